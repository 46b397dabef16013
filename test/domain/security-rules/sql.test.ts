import { breaksOut, createdTables, destructions, injection } from '../../../src/domain/security-rules/sql/judge.js';
import { readSql } from '../../../src/domain/security-rules/sql/statements.js';
import { plain } from '../../../src/domain/security-rules/shell/text.js';

describe('SQL', () => {
  test.each<[string, string[], boolean]>([
    ['SELECT 1; SELECT 2', ['SELECT 1', 'SELECT 2'], false],
    ["SELECT 'a;b' -- c;d\nFROM t", ['SELECT a;b -- c;d FROM T'], false],
    ["SELECT 'it''s', E'a\\'b'", ["SELECT it''s E a\\'b"], false],
    ['SELECT "a;b", [c;d], `e;f`', ['SELECT a;b c;d e;f'], false],
    ['DO $$ BEGIN; END $$', ['DO  BEGIN; END '], false],
    ['DO $x$ a; $$ b $x$', ['DO  a; $$ b '], false],
    ['SELECT a.b /* c; */ FROM d', ['SELECT A.B  c;  FROM D'], false],
    ["SELECT 'a", ['SELECT a'], true],
    ['SELECT /* a', ['SELECT  a'], true],
    ['', [], false],
  ])('%j has the statements %j', (source, expected, isOpen) => {
    const sql = readSql(source);
    expect(sql.statements.map((tokens) => tokens.map(({ text }) => text).join(' '))).toEqual(expected);
    expect(sql.isOpen).toBe(isOpen);
  });

  test.each([
    ['DROP TABLE a', 1],
    ['drop table if exists a; drop database b', 2],
    ['DROP INDEX a', 0],
    ['DROP VIEW a', 0],
    ['TRUNCATE a', 1],
    ['DELETE FROM a', 1],
    ['DELETE FROM a WHERE b = 1', 0],
    ['DELETE FROM a WHERE 1', 1],
    ['DELETE FROM a WHERE 1 < 2', 1],
    ["DELETE FROM a WHERE 'x' = 'x'", 1],
    ["DELETE FROM a WHERE 'x' = 'y'", 0],
    ['UPDATE a SET b = 1', 1],
    ['UPDATE a SET b = 1 WHERE c = 2', 0],
    ['ALTER TABLE a DROP COLUMN b', 1],
    ['ALTER TABLE a DROP CONSTRAINT b', 0],
    ['ALTER TABLE a ALTER b DROP NOT NULL', 0],
    ['EXPLAIN DELETE FROM a', 0],
    ["SELECT 'DROP TABLE a'", 0],
    ['-- DROP TABLE a', 0],
    ['WITH x AS (SELECT 1) SELECT * FROM x', 0],
    ['WITH x AS (DELETE FROM a RETURNING b) SELECT * FROM x', 1],
  ])('%j destroys %i things', (source, count) => {
    expect(destructions(plain(source), new Set())).toHaveLength(count);
  });

  test('that creates a table may drop it again', () => {
    expect(
      createdTables('CREATE TABLE IF NOT EXISTS a (b int); CREATE TEMP TABLE c (d int); CREATE INDEX e ON f (g)'),
    ).toEqual(['A', 'C']);
    expect(destructions(plain('DROP TABLE a'), new Set(['A']))).toEqual([]);
  });

  test.each([
    ['SELECT a FROM b WHERE c = 1 OR d = 2', false],
    ['SELECT a FROM b WHERE c = 1 OR 1 = 1', true],
    ["SELECT a FROM b WHERE c = '' OR 'x' = 'x'", true],
    ['SELECT a FROM b WHERE c = ${d}', true],
    ["SELECT a FROM b WHERE c = '%s'", true],
    ["SELECT a FROM b WHERE c LIKE '%s'", false],
    ['SELECT a % 2 FROM b', false],
    ["SELECT '{{1,2},{3,4}}'", false],
    ["SELECT 'a' || b || 'c'", false],
    ['SELECT a -- why not', false],
    ["SELECT a FROM b WHERE c = 'd' --", true],
    ['SELECT a FROM b UNION SELECT c FROM d', false],
    ['SELECT a FROM b UNION ALL SELECT table_name FROM information_schema.tables', true],
    ["COPY a FROM 'b.csv'", false],
    ["COPY a FROM PROGRAM 'b'", true],
  ])('%j is put together: %s', (source, expected) => {
    expect(injection(plain(source), false) !== undefined).toBe(expected);
  });

  test('in program text leaves %s to the library', () => {
    expect(injection(plain('SELECT a FROM b WHERE c = %s'), true)).toBeUndefined();
    expect(injection(plain('SELECT a FROM b WHERE c = %s'), false)).toBeDefined();
  });

  test.each([
    ["'; DROP TABLE users; --", true],
    ["' OR '1'='1", true],
    ['" OR ""="', true],
    ["admin'--", true],
    ["x' UNION SELECT a FROM b", true],
    ["1' AND sleep(5)", true],
    ['1%20OR%201=1', true],
    ["it's fine", false],
    ["name = 'x' or y = 1", false],
    ['a or b', false],
    ["don't drop it; table it", false],
  ])('the value %j breaks out of a statement: %s', (value, expected) => {
    expect(breaksOut(value)).toBe(expected);
  });
});
