import { destructions, breaksOut, injection } from '../sql/judge.js';
import { effectsThat, type Check } from './check.js';
import { shown } from '../shell/text.js';

/** Programs whose arguments are words to print, find, compare or remember. */
const speaks =
  /^(?:echo|printf|grep|egrep|fgrep|rg|ag|ack|git|gh|glab|sed|awk|jq|logger|cat|tee|test|\[|expr|jest|vitest|mocha|ava|tap|pytest|rspec|phpunit|npm|npx|yarn|pnpm|make|go|cargo|mvn|gradle|curl-test|sqlfluff|(?:ba|da|z|k|a|fi)?sh|python[0-9.]*|node|perl|ruby|php|psql|mysql|mariadb|sqlite3?|duckdb|sqlcmd|eval|find|xargs|env)$/;

export const sqlChecks: readonly Check[] = [
  {
    id: 'sql-injection',
    title: 'SQL built from values',
    severity: 'critical',
    confidence: 0.95,
    why: 'A statement whose text holds a value, or whose value breaks out of its quotes, does what the value says.',
    advice: 'Give the database a fixed statement, or a file of them, and hand values over as parameters.',
    judge: (subject) => {
      const found = effectsThat(subject, 'sql').flatMap(({ text, inCode }) => {
        const why = injection(text, inCode);
        return why ? [`The SQL "${shown(text)}" ${why}.`] : [];
      });
      const { program, args } = subject.invocation;
      if (speaks.test(program)) return found;
      const broken = args.filter(({ text }) => breaksOut(text));
      return [
        ...found,
        ...broken.map(
          (word) => `${program} is given "${shown(word)}", which breaks out of the statement it is put into.`,
        ),
      ];
    },
  },
  {
    id: 'sql-destruction',
    title: 'SQL that destroys data',
    severity: 'critical',
    confidence: 0.95,
    why: 'Rows, tables and databases that are gone do not come back with the files of the workspace.',
    advice: 'Delete under a condition, rename instead of dropping, or leave the step to a person with a backup.',
    judge: (subject) => {
      const { program, args } = subject.invocation;
      const isMemory = /sqlite|duckdb|libsql/.test(program) && args.some(({ text }) => text === ':memory:');
      const found = isMemory
        ? []
        : effectsThat(subject, 'sql').flatMap(({ text }) => destructions(text, subject.created));
      const line = args
        .map(({ text }) => text)
        .join(' ')
        .slice(0, 4_000);
      if (program === 'dropdb' || program === 'dropuser')
        found.push(`${program} removes a whole ${program.slice(4) === 'db' ? 'database' : 'role'}`);
      if (program === 'mysqladmin' && /\bdrop\b/.test(line)) found.push('mysqladmin drop removes a whole database');
      if (/^(?:redis-cli|valkey-cli)$/.test(program) && /\b(?:flushall|flushdb|swapdb|shutdown)\b/i.test(line))
        found.push(`${program} empties a whole database`);
      if (
        /^mongo(?:sh)?$/.test(program) &&
        /dropDatabase\s?\(|\.drop\s?\(|(?:deleteMany|remove)\s?\(\s{0,8}(?:\)|\{\s{0,8}\}\s{0,8}\))/.test(line)
      )
        found.push('the MongoDB shell removes a whole collection or database');
      return found.map((what) => `${what.charAt(0).toUpperCase()}${what.slice(1)}.`);
    },
  },
];
