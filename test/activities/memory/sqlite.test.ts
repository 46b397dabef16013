import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import type { Embedder } from '../../../activities/memory/embedder.js';
import { hashingEmbedder } from '../../../activities/memory/hashing-embedder.js';
import { SqliteMemory } from '../../../activities/memory/sqlite.js';
import type { SimilarTrace, TraceRecord } from '../../../src/contracts/memory.js';
import { ParleyError } from '../../../src/domain/errors.js';
import { aFolder, aTrace, change, minute, shop, traceId } from './traces.js';

const open: SqliteMemory[] = [];
const heard: string[] = [];
afterEach(async () => {
  for (const memory of open.splice(0)) await memory.close();
  heard.length = 0;
});

interface Options {
  file?: string;
  embedder?: Embedder;
  vectorExtension?: boolean;
}

const aMemory = ({ file = join(aFolder(), 'memory.db'), ...options }: Options = {}): SqliteMemory => {
  const onError = (_: unknown, what: string): void => void heard.push(what);
  const memory = new SqliteMemory(file, { embedder: hashingEmbedder, onError, ...options });
  open.push(memory);
  return memory;
};

const stored = async (memory: SqliteMemory, ...traces: TraceRecord[]): Promise<void> => {
  for (const trace of traces) await memory.store(trace);
};

const names = (found: SimilarTrace[]): string[] => found.map(({ work_id }) => work_id.replace('debate-', ''));

describe('a memory in SQLite', () => {
  test('gives a trace back as it was stored', async () => {
    const memory = aMemory();
    const trace = aTrace('a');
    expect(await memory.store(trace)).toEqual({ stored: true });
    expect(await memory.trace('default', trace.trace_id)).toEqual(trace);
  });

  test('keeps all that was run, though repairs made it longer than any plan', async () => {
    const [task] = aTrace('long').plan?.tasks ?? [];
    const tasks = Array.from({ length: 250 }, (_, index) => ({ ...task!, task_id: `t${index}` }));
    const memory = aMemory();
    await memory.store(aTrace('long', { plan: { tasks } }));
    expect((await memory.trace('default', traceId('long')))?.plan?.tasks).toHaveLength(250);
  });

  test('keeps everything when it is opened again', async () => {
    const file = join(aFolder(), 'deeper', 'memory.db');
    const before = aMemory({ file });
    await stored(before, aTrace('a'));
    await before.close();
    const after = aMemory({ file });
    expect(await after.trace('default', traceId('a'))).toEqual(aTrace('a'));
    expect(names(await after.search({ tenant: 'default', text: 'orders', limit: 5 }))).toEqual(['a']);
  });

  test('stores a trace once, and a repeat changes no rating', async () => {
    const memory = aMemory();
    await stored(memory, aTrace('a'));
    const ratings = await memory.ratings('default');
    expect(await memory.store(aTrace('a', { summary: 'told otherwise' }))).toEqual({ stored: false });
    expect(await memory.ratings('default')).toEqual(ratings);
    expect((await memory.trace('default', traceId('a')))?.summary).toBe('All tasks ran.');
    expect(names(await memory.search({ tenant: 'default', text: '', limit: 5 }))).toEqual(['a']);
  });

  test('refuses the trace id of another piece of work', async () => {
    const memory = aMemory();
    await stored(memory, aTrace('a'));
    await expect(memory.store(aTrace('b', { trace_id: traceId('a') }))).rejects.toThrow(
      `the trace ${traceId('a')} is that of debate-a; debate-b needs a trace id of its own`,
    );
  });

  test('refuses a trace with faults, names them all, and keeps nothing of it', async () => {
    const memory = aMemory();
    const faulty = aTrace('a', { elo_changes: [change('critic', 10), change('critic', -5)], consensus: 1.5 });
    await expect(memory.store(faulty)).rejects.toMatchObject({
      code: 'invalid_request',
      retryable: false,
      message: expect.stringMatching(/consensus: .*; elo_changes: must name each persona once/),
    });
    expect(await memory.ratings('default')).toEqual([]);
  });

  test('keeps nothing of a trace when one of its parts cannot be written', async () => {
    const file = join(aFolder(), 'memory.db');
    const memory = aMemory({ file });
    const other = new DatabaseSync(file);
    other.exec('DROP TABLE trace_words');
    await expect(memory.store(aTrace('a'))).rejects.toThrow('trace_words');
    expect(other.prepare('SELECT count(*) AS traces FROM traces').get()).toEqual({ traces: 0 });
    expect(await memory.ratings('default')).toEqual([]);
    other.close();
  });

  test('shows a tenant only what is its own', async () => {
    const memory = aMemory();
    await stored(memory, aTrace('a', { tenant: 'acme' }));
    expect(await memory.trace('default', traceId('a'))).toBeNull();
    expect(await memory.ratings('default')).toEqual([]);
    expect(await memory.search({ tenant: 'default', text: 'index orders', limit: 5 })).toEqual([]);
    const context = await memory.context({ tenant: 'default', task: 'index', personas: ['critic'], topK: 5 });
    expect(context).toEqual({
      ratings: { critic: { elo: 1200, matches: 0, successes: 0 } },
      similar: [],
      recent: [],
    });
  });
});

describe('ratings', () => {
  test.each<[string, Partial<TraceRecord>, { elo: number; matches: number; successes: number }]>([
    ['verified, it argued', {}, { elo: 1210, matches: 1, successes: 1 }],
    ['not verified', { verified: false, outcome: 'rolled_back' }, { elo: 1210, matches: 1, successes: 0 }],
    [
      'verified, it only abstained',
      { elo_changes: [change('critic', 0, false)] },
      { elo: 1200, matches: 1, successes: 0 },
    ],
    [
      'blocked by a veto',
      { outcome: 'blocked', decision: 'VETO', verified: false, elo_changes: [change('critic', -50)] },
      { elo: 1150, matches: 1, successes: 0 },
    ],
  ])('of a persona after a debate that was %s', async (_, over, expected) => {
    const memory = aMemory();
    await stored(memory, aTrace('a', over));
    expect((await memory.ratings('default')).find(({ persona_id }) => persona_id === 'critic')).toEqual({
      persona_id: 'critic',
      ...expected,
    });
  });

  test('add up over debates, whatever rating each began from', async () => {
    const memory = aMemory();
    const began = { persona_id: 'critic', before: 1200, delta: 10, argued: true };
    await stored(memory, aTrace('a', { elo_changes: [began] }), aTrace('b', { elo_changes: [began] }));
    expect(await memory.ratings('default')).toEqual([{ persona_id: 'critic', elo: 1220, matches: 2, successes: 2 }]);
  });

  test('are listed from the highest, equal ones by name', async () => {
    const memory = aMemory();
    const elo_changes = [change('zoe', 5), change('adam', 5), change('best', 25), change('worst', -50)];
    await stored(memory, aTrace('a', { elo_changes }));
    expect((await memory.ratings('default')).map(({ persona_id }) => persona_id)).toEqual([
      'best',
      'adam',
      'zoe',
      'worst',
    ]);
  });
});

const tasks = [
  shop('schema', 'Migrate the postgres database schema to version 7', { created_at: minute(1) }),
  shop('bread', 'Bake bread with rye and honey', { created_at: minute(2) }),
  shop('index', 'Add an index to the orders table', { created_at: minute(3) }),
  shop('login', 'Rename the login button', { created_at: minute(4) }),
];

describe.each([
  ['with the vector extension', true],
  ['without the vector extension', false],
])('context %s', (_, vectorExtension) => {
  test('holds the ratings asked for, the traces most alike, and the newest', async () => {
    const memory = aMemory({ vectorExtension });
    await stored(memory, ...tasks);
    const { ratings, similar, recent } = await memory.context({
      tenant: 'default',
      task: 'database migrations for postgres',
      personas: ['critic', 'nobody'],
      topK: 2,
    });
    expect(ratings).toEqual({
      critic: { elo: 1240, matches: 4, successes: 4 },
      nobody: { elo: 1200, matches: 0, successes: 0 },
    });
    expect(names(similar)[0]).toBe('schema');
    expect(similar).toHaveLength(2);
    expect(similar[0]!.similarity).toBeGreaterThan(0.2);
    expect(similar[0]!.similarity).toBeGreaterThan(similar[1]!.similarity!);
    expect(names(recent)).toEqual(['login', 'index']);
    expect(recent[0]!.similarity).toBeNull();
  });

  test('calls the same task 1', async () => {
    const memory = aMemory({ vectorExtension });
    await stored(memory, ...tasks);
    const query = { tenant: 'default', task: 'Rename the login button', personas: [], topK: 1 };
    const { similar } = await memory.context(query);
    expect(names(similar)).toEqual(['login']);
    expect(similar[0]!.similarity).toBeCloseTo(1, 5);
  });
});

describe('search', () => {
  test.each([
    ['a word of the task', 'honey', ['bread']],
    ['words in any case, with the signs of a query language', 'LOGIN" OR (button*', ['login']],
    ['another form of a word, by its vector', 'orders tables indexes', ['index']],
    ['nothing that is there', 'zeppelin', []],
    ['signs alone', '***', []],
  ])('finds by %s', async (_, text, expected) => {
    const memory = aMemory();
    await stored(memory, ...tasks);
    expect(names(await memory.search({ tenant: 'default', text, limit: 10 })).slice(0, 1)).toEqual(expected);
  });

  test('looks into summaries and tags too', async () => {
    const memory = aMemory();
    await stored(
      memory,
      shop('a', 'One', { summary: 'The critic found an injection.' }),
      shop('b', 'Two', { tags: [{ tag: 'kubernetes', score: 1 }] }),
    );
    expect(names(await memory.search({ tenant: 'default', text: 'injection', limit: 1 }))).toEqual(['a']);
    expect(names(await memory.search({ tenant: 'default', text: 'kubernetes', limit: 1 }))).toEqual(['b']);
  });

  test('lists the newest when nothing is asked for', async () => {
    const memory = aMemory();
    await stored(memory, ...tasks);
    expect(names(await memory.search({ tenant: 'default', text: ' ', limit: 3 }))).toEqual(['login', 'index', 'bread']);
  });
});

/** Knows a vector for each text that was named, and fails for others. */
const table = (name: string, vectors: Record<string, number[]>): Embedder => ({
  name,
  unrelatedBelow: 0.1,
  embed: async (texts) =>
    texts.map((text) => {
      const vector = vectors[text];
      if (vector === undefined) throw new Error(`no vector for ${text}`);
      return Float32Array.from(vector);
    }),
});

describe('vectors', () => {
  test('of another embedder are not compared, even of the same name with other dimensions', async () => {
    const file = join(aFolder(), 'memory.db');
    const short = table('model', { One: [1, 0], Two: [0, 1], what: [1, 0] });
    await stored(aMemory({ file, embedder: short }), shop('one', 'One'), shop('two', 'Two'));
    const long = table('model', { what: [1, 0, 0] });
    const { similar } = await aMemory({ file, embedder: long }).context({
      tenant: 'default',
      task: 'what',
      personas: [],
      topK: 5,
    });
    expect(similar).toEqual([]);
  });

  test('of traces from before are made at the next look-up after the embedder changed', async () => {
    const file = join(aFolder(), 'memory.db');
    await stored(aMemory({ file }), shop('one', 'One'), shop('two', 'Two'));
    const model = table('model', { One: [1, 0], Two: [0, 1], what: [0.8, 0.6] });
    const { similar } = await aMemory({ file, embedder: model }).context({
      tenant: 'default',
      task: 'what',
      personas: [],
      topK: 5,
    });
    expect(similar.map(({ task, similarity }) => [task, similarity?.toFixed(3)])).toEqual([
      ['One', '0.800'],
      ['Two', '0.600'],
    ]);
  });

  test('that cannot be made stop neither storing nor searching, which then goes by words', async () => {
    const memory = aMemory({ embedder: table('down', {}) });
    await stored(memory, ...tasks);
    expect(names(await memory.search({ tenant: 'default', text: 'honey', limit: 5 }))).toEqual(['bread']);
    const query = { tenant: 'default', task: 'orders by index', personas: [], topK: 1 };
    const { similar } = await memory.context(query);
    expect(similar.map(({ work_id, similarity }) => [work_id, similarity])).toEqual([['debate-index', null]]);
    expect(new Set(heard)).toEqual(new Set(['no vectors for memory: until there are, it is searched by words alone']));
  });
});

const failure = async (work: () => unknown): Promise<{ code: string; message: string; retryable: boolean }> => {
  try {
    await work();
  } catch (error) {
    if (error instanceof ParleyError) return { code: error.code, message: error.message, retryable: error.retryable };
    throw error;
  }
  throw new Error('nothing failed');
};

describe('a memory that cannot be used says why', () => {
  test('a file that is no database', async () => {
    const file = join(aFolder(), 'memory.db');
    writeFileSync(file, 'This is a diary.\n'.repeat(1_000));
    expect(await failure(() => aMemory({ file }))).toEqual({
      code: 'unavailable',
      message: `Memory: ${file} is no SQLite database. Put a copy in its place, or move it away to begin with an empty memory (file is not a database).`,
      retryable: false,
    });
  });

  test('a file that is damaged in the middle', async () => {
    const file = join(aFolder(), 'memory.db');
    const memory = aMemory({ file });
    for (let n = 0; n < 50; n += 1) await memory.store(aTrace(`n${n}`));
    await memory.close();
    const bytes = readFileSync(file);
    // Every page but the first, which says what the tables are.
    bytes.fill(0x5a, 4096);
    writeFileSync(file, bytes);
    const { code, message } = await failure(async () => await aMemory({ file }).trace('default', traceId('n3')));
    expect({ code, message }).toEqual({ code: 'unavailable', message: expect.stringContaining(`${file} is damaged`) });
  });

  test('a folder in its place', async () => {
    const file = join(aFolder(), 'memory.db');
    mkdirSync(file);
    expect((await failure(() => aMemory({ file }))).message).toContain(`${file} cannot be opened`);
  });

  test('a file where its folder should be', async () => {
    const folder = join(aFolder(), 'data');
    writeFileSync(folder, '');
    expect((await failure(() => aMemory({ file: join(folder, 'memory.db') }))).message).toContain(
      'cannot be opened. Its folder must exist and belong to this user; PARLEY_DATA says which folder it is',
    );
  });

  test('a file of a later version', async () => {
    const file = join(aFolder(), 'memory.db');
    await aMemory({ file }).close();
    const database = new DatabaseSync(file);
    database.exec('PRAGMA user_version = 99');
    database.close();
    const { message } = await failure(() => aMemory({ file }));
    expect(message).toContain('was written by a later Parley (its version is 99, this one knows 1). Update Parley');
  });

  test('a memory that was closed', async () => {
    const memory = aMemory();
    await memory.close();
    expect(await failure(() => memory.ratings('default'))).toMatchObject({ code: 'unavailable', retryable: true });
  });
});

/** Runs a script of plain JavaScript in a process of its own. */
const inProcess = (script: string, ...args: string[]): Promise<{ signal: string | null; output: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, ['-e', script, ...args], (error, stdout, stderr) =>
      resolve({ signal: error?.signal ?? null, output: stdout + stderr }),
    );
  });

const sqlitePath = createRequire(import.meta.url).resolve('@photostructure/sqlite');

describe('a file that several processes use', () => {
  test('takes the traces of all, each once, with ratings that add up', async () => {
    const file = join(aFolder(), 'memory.db');
    const memories = await Promise.all([1, 2, 3, 4].map(async () => aMemory({ file })));
    // Every trace through every memory at the same time.
    const all = Array.from({ length: 25 }, (_, n) => aTrace(`n${n}`));
    const answers = await Promise.all(memories.flatMap((memory) => all.map((trace) => memory.store(trace))));
    expect(answers.filter(({ stored: first }) => first)).toHaveLength(25);
    for (const memory of memories) {
      expect((await memory.ratings('default'))[0]).toEqual({
        persona_id: 'critic',
        elo: 1450,
        matches: 25,
        successes: 25,
      });
    }
  });

  test('waits for another process’s transaction', async () => {
    const file = join(aFolder(), 'memory.db');
    const memory = aMemory({ file });
    const other = inProcess(
      `const { DatabaseSync } = require(process.argv[1]); const db = new DatabaseSync(process.argv[2]);
       db.exec('BEGIN IMMEDIATE'); process.stdout.write('locked'); setTimeout(() => db.exec('COMMIT'), 300);`,
      sqlitePath,
      file,
    );
    const probe = new DatabaseSync(file, { timeout: 0 });
    for (let isLocked = false; !isLocked; await new Promise((resolve) => setTimeout(resolve, 5))) {
      try {
        probe.exec('BEGIN IMMEDIATE; ROLLBACK');
      } catch {
        isLocked = true; // the other process has it
      }
    }
    probe.close();
    expect(await memory.store(aTrace('a'))).toEqual({ stored: true });
    expect((await other).output).toBe('locked');
  });

  test('holds nothing of a transaction whose process was killed, and serves the next one', async () => {
    const file = join(aFolder(), 'memory.db');
    await stored(aMemory({ file }), aTrace('a'));
    const killed = await inProcess(
      `const { DatabaseSync } = require(process.argv[1]); const db = new DatabaseSync(process.argv[2]);
       db.exec('BEGIN IMMEDIATE'); db.exec("UPDATE elo_changes SET delta = 999"); process.kill(process.pid, 'SIGKILL');`,
      sqlitePath,
      file,
    );
    expect(killed.signal).toBe('SIGKILL');
    const memory = aMemory({ file });
    await stored(memory, aTrace('b'));
    expect((await memory.ratings('default'))[0]).toMatchObject({ persona_id: 'critic', elo: 1220 });
  });
});
