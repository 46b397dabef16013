import { holeMark, type Hole, type Text } from '../shell/text.js';
import { readSql, type Sql, type SqlToken } from './statements.js';

const word = (tokens: readonly SqlToken[], index: number): string => {
  const token = tokens[index];
  return token?.kind === 'word' ? token.text : '';
};
const words = (tokens: readonly SqlToken[]): string[] =>
  tokens.filter(({ kind }) => kind === 'word').map(({ text }) => text);
const named = (token: SqlToken | undefined): string => (token?.text ?? '').toUpperCase();

/** A comparison that holds for every row: `1=1`, `'a'='a'`, `TRUE`. */
const holdsAlways = (tokens: readonly SqlToken[], at: number): boolean => {
  const skipped = tokens[at]?.text === '(' ? at + 1 : at;
  const [left, mark, right] = tokens.slice(skipped, skipped + 3);
  if (left?.kind === 'word' && left.text === 'TRUE') return mark?.text !== '=' && mark?.text !== '<';
  if (
    left?.kind === 'number' &&
    Number(left.text) !== 0 &&
    (mark === undefined || mark.text === ')' || mark.kind === 'comment')
  )
    return true;
  if (!left || !right || mark?.kind !== 'mark') return false;
  const isConstant = left.kind === 'number' || left.kind === 'string';
  if (mark.text === '=') return isConstant && left.kind === right.kind && left.text === right.text;
  if (left.kind !== 'number' || right.kind !== 'number') return false;
  const [small, large] = mark.text === '<' ? [left, right] : [right, left];
  return /^[<>]$/.test(mark.text) && Number(small.text) < Number(large.text);
};

const always = (tokens: readonly SqlToken[], after: string): boolean =>
  tokens.some(({ kind, text }, index) => kind === 'word' && text === after && holdsAlways(tokens, index + 1));

/** The name behind DROP TABLE and its like, `IF EXISTS` left out. */
const droppedName = (tokens: readonly SqlToken[]): string => {
  const at = word(tokens, 2) === 'IF' ? 4 : 2;
  return named(tokens[at]);
};

const dropped = new Set([
  'TABLE',
  'DATABASE',
  'SCHEMA',
  'USER',
  'ROLE',
  'TABLESPACE',
  'OWNED',
  'KEYSPACE',
  'COLLECTION',
  'BUCKET',
  'FOREIGN',
]);

/** What one statement destroys; undefined for one that destroys nothing. */
const destruction = (all: readonly SqlToken[], created: ReadonlySet<string>): string | undefined => {
  const tokens = all.filter(({ kind }) => kind !== 'comment');
  const [first, second] = [word(tokens, 0), word(tokens, 1)];
  if (first === 'EXPLAIN') return undefined;
  if (first === 'DROP' && dropped.has(second)) {
    const name = droppedName(tokens);
    return second === 'TABLE' && created.has(name)
      ? undefined
      : `DROP ${second}${name ? ` ${name.toLowerCase()}` : ''} removes all that is in it`;
  }
  if (first === 'TRUNCATE') return 'TRUNCATE empties a whole table';
  const has = (name: string): boolean => words(tokens).includes(name);
  const deletes = tokens.findIndex(
    ({ kind, text }, index) => kind === 'word' && text === 'DELETE' && word(tokens, index + 1) === 'FROM',
  );
  const isWith = first === 'WITH' && deletes !== -1;
  if (first === 'DELETE' || isWith) {
    const rest = tokens.slice(Math.max(0, deletes));
    if (!words(rest).includes('WHERE')) return 'DELETE without WHERE removes every row';
    if (always(rest, 'WHERE')) return 'DELETE under a condition that always holds removes every row';
  }
  if (first === 'UPDATE' && has('SET')) {
    if (!has('WHERE')) return 'UPDATE without WHERE changes every row';
    if (always(tokens, 'WHERE')) return 'UPDATE under a condition that always holds changes every row';
  }
  const isAlter = first === 'ALTER' && second === 'TABLE';
  const drops = tokens.findIndex(({ kind, text }) => kind === 'word' && text === 'DROP');
  if (
    isAlter &&
    drops !== -1 &&
    !/^(?:CONSTRAINT|INDEX|DEFAULT|NOT|PRIMARY|FOREIGN|KEY|CHECK|IDENTITY|EXPRESSION)$/.test(word(tokens, drops + 1))
  ) {
    return 'ALTER TABLE … DROP removes a column and all that is in it';
  }
  return undefined;
};

/** Tables that a text creates: dropping them again destroys nothing that was there before. */
export const createdTables = (text: string): string[] =>
  readSql(text).statements.flatMap((tokens) => {
    const at = tokens.findIndex(({ kind, text: name }) => kind === 'word' && name === 'TABLE');
    if (word(tokens, 0) !== 'CREATE' || at === -1 || at > 3) return [];
    return [named(tokens[word(tokens, at + 1) === 'IF' ? at + 4 : at + 1])];
  });

/** What SQL destroys that no rollback of files brings back, one sentence each. */
export const destructions = (text: Text, created: ReadonlySet<string>): string[] =>
  readSql(text.text).statements.flatMap((tokens) => destruction(tokens, created) ?? []);

/** Places where a value is put into the text: `${x}`, `#{x}`, `{{x}}`, `<?= x ?>`, or `'" + x + "'`. */
const templates: readonly RegExp[] = [
  /[$#]\{|<\?=/,
  /\{\{\s{0,4}[A-Za-z_][\w.]{0,60}\s{0,4}\}\}/,
  /'"\s{0,8}[+.]/,
  /"\s{0,8}\+\s{0,8}[A-Za-z_]/,
  /'\s{0,8}\+\s{0,8}[A-Za-z_][\w.]{0,60}\s{0,8}\+\s{0,8}'/,
];

/** A format's place, as a value of its own. */
const formatted = ({ statements }: Sql): boolean =>
  statements.some((tokens) =>
    tokens.some(({ kind, text }, index) => {
      if (kind === 'string')
        return /^(?:%s|%d|%\(\w{1,40}\)s)$/.test(text) && !/^I?LIKE$/.test(word(tokens, index - 1));
      return kind === 'mark' && text === '%' && /^[SD]$/.test(word(tokens, index + 1)) && !isOperand(tokens[index - 1]);
    }),
  );
const isOperand = (token: SqlToken | undefined): boolean =>
  token !== undefined &&
  (token.kind === 'number' ||
    token.kind === 'name' ||
    (token.kind === 'word' &&
      !/^(?:WHERE|AND|OR|VALUES|SET|IN|LIKE|LIMIT|BY|SELECT|FROM|INTO|NOT)$/.test(token.text)) ||
    token.text === ')');

const reaches =
  /^(?:XP_CMDSHELL|XP_REGREAD|SP_OACREATE|LOAD_FILE|PG_READ_FILE|PG_READ_BINARY_FILE|PG_LS_DIR|LO_IMPORT|LO_EXPORT|UTL_HTTP|SYS_EXEC|SYS_EVAL|LOAD_EXTENSION|DBLINK_CONNECT|READFILE|WRITEFILE)$/;
/** SQL that leaves the database: starts programs, reads and writes the server's files. */
const leaves = (tokens: readonly SqlToken[]): boolean =>
  tokens.some(({ kind, text }, index) => {
    if (kind !== 'word') return false;
    if (reaches.test(text)) return true;
    return (
      (text === 'INTO' && /^(?:OUTFILE|DUMPFILE)$/.test(word(tokens, index + 1))) ||
      ((text === 'TO' || text === 'FROM') && word(tokens, index + 1) === 'PROGRAM' && word(tokens, 0) === 'COPY')
    );
  });

/** A comment without words at the end, or one that swallows the rest of a quoted value. */
const isCutShort = (tokens: readonly SqlToken[]): boolean => {
  const last = tokens.at(-1);
  return last?.kind === 'comment' && /^(?:--|#|\/\*)\s{0,9}(?:'|$)/.test(last.text) && tokens.length > 1;
};

/** Values put into a statement; whole files and whole outputs between statements are none. */
const insertedHoles = (text: Text): readonly Hole[] => {
  let from = 0;
  return text.holes.filter(({ kind }) => {
    const at = text.text.indexOf(holeMark, from);
    let before = at - 1;
    // From mark to mark, so that the walk stays one walk.
    while (before >= from && /\s/.test(text.text[before] as string)) before -= 1;
    const standsAlone = before < 0 || text.text[before] === ';' || (before < from && from > 0);
    from = at + 1;
    return kind !== 'number' && !standsAlone;
  });
};

/** Why SQL looks put together from outside values or broken out of; undefined when it does not. */
export const injection = (text: Text, inCode: boolean): string | undefined => {
  const sql = readSql(text.text);
  const holes = insertedHoles(text);
  if (holes.length > 0) return 'puts a value that is only known when it runs into the text of a statement';
  if (text.variables.length > 0)
    return `puts the value of ${text.variables.map((name) => `$${name}`).join(', ')} into the text of a statement`;
  if (templates.some((template) => template.test(text.text))) return 'builds a statement from a template';
  if (!inCode && formatted(sql)) return 'builds a statement from a format';
  if (
    sql.statements.some(
      (tokens) => always(tokens, 'OR') || tokens.some((token, at) => token.text === '|' && holdsAlways(tokens, at + 1)),
    )
  ) {
    return 'has a condition that holds for every row behind OR';
  }
  if (sql.isOpen && !text.text.includes(holeMark))
    return 'has a quote or a comment that does not end, as after a value that broke out of its quotes';
  if (sql.statements.some(leaves)) return 'reaches files or programs of the database server';
  if (sql.statements.some((tokens) => isCutShort(tokens))) {
    return 'cuts a statement short with a comment';
  }
  const isUnion = sql.statements.some((tokens) =>
    words(tokens).some(
      (name, at, all) =>
        name === 'UNION' &&
        /^(?:SELECT|ALL)$/.test(all[at + 1] ?? '') &&
        all.some((other) =>
          /(?:^|\.)(?:INFORMATION_SCHEMA|PG_CATALOG|SQLITE_MASTER|PG_SHADOW|PG_USER)(?:\.|$)/.test(other),
        ),
    ),
  );
  return isUnion ? 'joins the catalogue of the database to a result' : undefined;
};

const shapes: readonly RegExp[] = [
  /['"`)]\s{0,8};\s{0,8}(?:drop|delete|truncate|alter|insert|update|exec|shutdown|create|grant)\s/i,
  /;\s{0,8}(?:drop|truncate)\s{1,8}(?:table|database|schema)\s/i,
  /;\s{0,8}delete\s{1,8}from\s/i,
  /['"`)]\s{0,8}(?:or|and|\|\|)\s{1,8}['"(]?(\w{0,20})['"]?\s{0,4}(?:=|like)\s{0,4}['"(]?\1/i,
  /'(?:--|#)\s{0,9}$/,
  /\bor\s{1,8}(\d{1,9})\s{0,4}=\s{0,4}\1(?!\d)/i,
  /['"`)\d]\s{1,8}union\s{1,8}(?:all\s{1,8}select|select)\s/i,
  /['"`]\s{0,8}(?:or|and)\s{1,8}(?:sleep|benchmark|pg_sleep|waitfor)\b/i,
];

/** Whether a value has the shape that breaks out of a statement it is put into. */
export const breaksOut = (value: string): boolean => {
  const text = /%[0-9a-f]{2}/i.test(value)
    ? value.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    : value;
  return shapes.some((shape) => shape.test(text));
};
