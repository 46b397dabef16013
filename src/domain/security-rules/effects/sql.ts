import type { Invocation } from '../shell/invocation.js';
import { Options } from '../shell/options.js';
import type { Text } from '../shell/text.js';
import type { Effect } from './effect.js';

/** How a database client is given SQL: the values of options, operands from some place on, and standard input otherwise. */
interface Client {
  readonly takesValue: string;
  readonly inline: readonly string[];
  /** Place of the first operand that is SQL. */
  readonly operand?: number;
  /** Options that name a file of SQL, whose bytes nobody has here. */
  readonly file?: readonly string[];
}

const psql: Client = {
  takesValue: 'c command d dbname f file h host p port U username v set variable o output F P R T L',
  inline: ['c', 'command'],
  file: ['f', 'file'],
};
const mysql: Client = {
  takesValue: 'e execute u user h host P port D database S socket default-character-set',
  inline: ['e', 'execute'],
};
const sqlite: Client = {
  takesValue: 'cmd init separator newline nullvalue mmap vfs',
  inline: ['cmd'],
  operand: 1,
  file: ['init'],
};
const sqlcmd: Client = { takesValue: 'Q q S U P d i o v', inline: ['Q', 'q'], file: ['i'] };
const query: Client = {
  takesValue: 'q query e execute h host u user password port d database',
  inline: ['q', 'query', 'e', 'execute'],
};

const clients: ReadonlyMap<string, Client> = new Map<string, Client>([
  ['psql', psql],
  ['pgcli', psql],
  ['usql', psql],
  ['mysql', mysql],
  ['mariadb', mysql],
  ['mycli', mysql],
  ['sqlite3', sqlite],
  ['sqlite', sqlite],
  ['litecli', sqlite],
  ['libsql', sqlite],
  ['duckdb', { takesValue: 'c s cmd init', inline: ['c', 's', 'cmd'], operand: 1 }],
  ['sqlcmd', sqlcmd],
  ['osql', sqlcmd],
  ['snowsql', query],
  ['clickhouse-client', query],
  ['clickhouse', query],
  ['cockroach', { takesValue: 'e execute url host u d', inline: ['e', 'execute'] }],
  ['cqlsh', { takesValue: 'e execute f file u p k', inline: ['e', 'execute'], file: ['f', 'file'] }],
  ['bq', { takesValue: 'project_id format', inline: [], operand: 1 }],
  ['turso', { takesValue: '', inline: [], operand: 3 }],
  ['wrangler', { takesValue: 'command file env', inline: ['command'], file: ['file'] }],
  ['sqlplus', { takesValue: '', inline: [] }],
  ['isql', { takesValue: '', inline: [] }],
]);

/** SQL that an invocation hands to a database. */
export const sqlEffects = ({ program, args, stdin }: Invocation): Effect[] => {
  const client = clients.get(program);
  if (!client) return [];
  const options = new Options(args, client.takesValue);
  const given: Text[] = [
    ...options.values(...client.inline),
    ...(client.operand === undefined ? [] : options.operands.slice(client.operand)),
  ];
  const files = client.file && options.values(...client.file).some(({ text }) => text !== '-');
  if (given.length === 0 && !files && stdin.text !== '' && !/^(?:bq|turso|wrangler)$/.test(program)) given.push(stdin);
  return given.filter(({ text }) => !/^\s{0,80}[.\\]/.test(text)).map((text) => ({ does: 'sql', text, inCode: false }));
};
