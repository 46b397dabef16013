import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CliContext } from '../../src/cli/context.js';
import { main } from '../../src/cli/program.js';
import {
  type FakeGateway,
  type FakeSession,
  finalEvent,
  laneEvent,
  provisionalEvent,
  revisionEvent,
  startFakeGateway,
  stateEvent,
} from './fake-gateway.js';

let gateway: FakeGateway;
let guarded: FakeGateway;
let folder: string;
beforeAll(async () => {
  [gateway, guarded] = await Promise.all([startFakeGateway(), startFakeGateway({ apiKey: 'key-for-the-tests' })]);
  folder = await mkdtemp(join(tmpdir(), 'parley-cli-'));
});
afterAll(async () => {
  await Promise.all([gateway.close(), guarded.close(), rm(folder, { recursive: true })]);
});
beforeEach(() => {
  gateway.onStart = play;
});

/** A whole short session: two lanes agree, a third objects and makes them think again. */
const play = (session: FakeSession): void => {
  session.emit(stateEvent('INIT', 'DISPATCHED', 'FAN_OUT'), stateEvent('DISPATCHED', 'STREAMING', 'DISPATCH_OK'));
  session.say('quick', 'blue because the sky has always been so');
  session.onFollow = () => {
    session.emit(
      laneEvent('quick', 'FINALIZED', { answer: 'blue' }),
      stateEvent('STREAMING', 'BUFFERING', 'FINAL', 1),
      provisionalEvent('blue', 1, ['quick', 'steady']),
      revisionEvent(0.5, 'green'),
      laneEvent('contrary', 'FAILED', { reason: { code: 'ETIMEOUT', message: 'no answer within 5 s' } }),
      stateEvent('PROVISIONAL', 'RECONCILING', 'ALL_ENDED', 0.67),
      finalEvent('blue', { cancelled: [{ lane_id: 'thorough', reason: 'early_exit' }] }),
      stateEvent('RECONCILING', 'COMPLETE', 'RECONCILED', 0.67),
    );
    session.end();
  };
};

const fail = (session: FakeSession): void => {
  session.emit(stateEvent('STREAMING', 'ERROR', 'NO_ANSWER'));
  session.end();
};

interface Ran {
  code: number;
  out: string;
  notes: string;
}

/** `interruptAt`: presses Ctrl-C once this has been printed. */
type World = Partial<CliContext> & { url?: string; interruptAt?: string };

const parley = async (
  argv: string[],
  { url = gateway.url, env = {}, interruptAt, ...context }: World = {},
): Promise<Ran> => {
  const out: string[] = [];
  const notes: string[] = [];
  let interrupt = (): void => undefined;
  const code = await main(argv, {
    env: { PARLEY_URL: url, ...env },
    out: (text) => {
      out.push(text);
      if (interruptAt !== undefined && text.includes(interruptAt)) interrupt();
    },
    note: (text) => void notes.push(text),
    readStdin: () => Promise.resolve(''),
    terminal: null,
    onInterrupt: (listener) => {
      interrupt = listener;
      return () => undefined;
    },
    ...context,
  });
  return { code, out: out.join('\n'), notes: notes.join('\n') };
};

describe('parley ask', () => {
  test('tells partial, provisional, revision and final line by line, and what stands behind the final', async () => {
    const { code, out } = await parley(['ask', 'Which colour?']);
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      '  session      DISPATCHED -> STREAMING (DISPATCH_OK)',
      '  partial      quick: blue because the sky has always been so…',
      '  lane         quick (silver) says: blue',
      '  session      STREAMING -> BUFFERING (FINAL)',
      '≈ PROVISIONAL  blue',
      '               agreement 100 %: quick, steady; others still run',
      '↺ REVISION     provisional 1 no longer holds: leader changed, agreement 50 %',
      '  lane         contrary FAILED: ETIMEOUT, no answer within 5 s',
      '  session      PROVISIONAL -> RECONCILING (ALL_ENDED)',
      '★ FINAL        blue',
      '               agreement 67 %; ended by all final',
      '               for: a, b; against: c',
      '               cancelled: thorough (early_exit)',
      '               first partial 0.01 s, provisional 0.02 s, final 0.03 s; saved 0 tokens, $0',
    ]);
  });

  test('says that simulated personas answer when no model is named', async () => {
    const { notes } = await parley(['ask', 'Which colour?']);
    expect(notes).toMatch(/^Simulated personas answer: no model key is set here\./);
  });

  test('passes the threshold, the deadline and the id on', async () => {
    let session: FakeSession | undefined;
    gateway.onStart = (started) => play((session = started));
    await parley(['ask', 'Which colour?', '--id', 'mine', '--threshold', '0.9', '--deadline', '2m']);
    expect(session?.status).toMatchObject({ id: 'mine', threshold: 0.9 });
  });

  test('asks the lanes of a file', async () => {
    const file = join(folder, 'lanes.json');
    await writeFile(file, JSON.stringify([{ lane_id: 'mine', adapter: { kind: 'simulated' } }]));
    let session: FakeSession | undefined;
    gateway.onStart = (started) => play((session = started));
    expect((await parley(['ask', 'Which colour?', '--lanes', file])).code).toBe(0);
    expect(session?.status.lanes.map(({ lane_id }) => lane_id)).toEqual(['mine']);
  });

  test('leaves a session running at Ctrl-C and says how to get back to it', async () => {
    gateway.onStart = (session) => session.emit(stateEvent('DISPATCHED', 'STREAMING', 'DISPATCH_OK'));
    const { code, notes } = await parley(['ask', 'Which colour?', '--id', 'left'], { interruptAt: 'STREAMING' });
    expect(code).toBe(130);
    expect(notes).toContain('Left; session left goes on.\n  parley session follow left    look again\n');
    expect(gateway.sessions.get('left')?.status.lifecycle).toBe('running');
  });

  test('draws one live line for each lane on a terminal', async () => {
    const painted: string[] = [];
    const terminal = { write: (piece: string) => void painted.push(piece), columns: 100, rows: 30 };
    const { code, out } = await parley(['ask', 'Which colour?'], { terminal });
    expect(code).toBe(0);
    // eslint-disable-next-line no-control-regex
    const last = painted.at(-1)!.replaceAll(/\x1b\[\??\d*[a-zA-Z]/g, '');
    expect(last.trimEnd().split('\n')).toEqual([
      '█████████████░░░░░░░ agreement 67 %  COMPLETE',
      '✓ quick    silver FINALIZED blue',
      '✗ contrary silver FAILED    ETIMEOUT: no answer within 5 s',
      '★ FINAL  blue',
    ]);
    expect(out).toMatch(/^blue\n {2}agreement 67 %/);
  });
});

describe('parley session', () => {
  test('starts what a body on standard input says', async () => {
    const body = {
      id: 'from-stdin',
      prompt: 'Which colour?',
      lanes: [{ lane_id: 'a', adapter: { kind: 'simulated' } }],
    };
    const { code, out } = await parley(['session', 'start', '-'], {
      readStdin: () => Promise.resolve(JSON.stringify(body)),
    });
    expect([code, out]).toEqual([0, 'from-stdin']);
  });

  test('shows, follows and lists what has ended', async () => {
    await parley(['ask', 'Which colour?', '--id', 'whole']);
    expect((await parley(['session', 'show', 'whole'])).out).toMatch(
      /^whole {2}COMPLETE {2}\(completed\) {2}agreement 67 %/,
    );
    expect((await parley(['session', 'follow', 'whole', '--after', '8'])).out).toMatch(/^★ FINAL {8}blue\n/);
    expect((await parley(['list'])).out).toMatch(/^whole +session +COMPLETE +completed/m);
  });

  test('cancels, and a cancelled session shows as exit code 1', async () => {
    gateway.onStart = () => undefined;
    await parley(['ask', 'Which colour?', '--id', 'stopped', '--detach']);
    expect((await parley(['session', 'cancel', 'stopped'])).code).toBe(0);
    expect((await parley(['session', 'show', 'stopped'])).code).toBe(1);
  });
});

describe('--json', () => {
  test.each([
    [['ask', 'Which colour?']],
    [['ask', 'Which colour?', '--detach']],
    [['session', 'show', 'for-json']],
    [['session', 'follow', 'for-json']],
    [['list']],
    [['doctor']],
    [['session', 'show', 'nobody']],
    [['list', '--url', 'http://127.0.0.1:9']],
  ])('makes %j print exactly one JSON document', async (argv) => {
    await parley(['ask', 'Which colour?', '--id', 'for-json']);
    const { out } = await parley([...argv, '--json']);
    expect(typeof JSON.parse(out)).toBe('object');
  });

  test('gives a followed session its status and its durable events', async () => {
    const { out } = await parley(['ask', 'Which colour?', '--json']);
    const document = JSON.parse(out) as { status: { result: { answer: string } }; events: { id: number }[] };
    expect(document.status.result.answer).toBe('blue');
    expect(document.events.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test('is a line for each thing with --jsonl', async () => {
    const { out } = await parley(['ask', 'Which colour?', '--jsonl']);
    const names = out.split('\n').map((line) => (JSON.parse(line) as { event: string }).event);
    expect(names).toEqual(expect.arrayContaining(['state', 'lane', 'provisional', 'revision', 'final']));
  });
});

describe('the exit code', () => {
  test.each([
    ['0 for help', ['--help'], 0],
    ['2 for no command', [], 2],
    ['2 for an unknown command', ['asks'], 2],
    ['2 for a question left out', ['ask'], 2],
    ['2 for a threshold above 1', ['ask', 'x', '--threshold', '2'], 2],
    ['2 for a deadline without a unit', ['ask', 'x', '--deadline', '30'], 2],
    ['2 for a lane that is none', ['ask', 'x', '--lane', 'oracle'], 2],
    ['2 for a file that is not there', ['session', 'start', 'nowhere.json'], 2],
    ['2 for an unknown id', ['session', 'show', 'nobody'], 2],
    ['3 for no gateway', ['list', '--url', 'http://127.0.0.1:9'], 3],
    ['1 for a doctor without a gateway', ['doctor', '--url', 'http://127.0.0.1:9'], 1],
  ])('is %s', async (_, argv, code) => {
    expect((await parley(argv)).code).toBe(code);
  });

  test('is 1 for a session that fails', async () => {
    gateway.onStart = fail;
    expect((await parley(['ask', 'Which colour?'])).code).toBe(1);
  });
});

describe('a refusal', () => {
  test('names every fault by its path', async () => {
    const body = { prompt: '', lanes: [{ lane_id: 'a', tier: 'tin', adapter: { kind: 'simulated' } }] };
    const { code, notes } = await parley(['session', 'start', '-'], {
      readStdin: () => Promise.resolve(JSON.stringify(body)),
    });
    expect(code).toBe(2);
    expect(notes.split('\n')).toEqual([
      'The request has faults (422 invalid_request)',
      expect.stringMatching(/^ {2}prompt: /),
      expect.stringMatching(/^ {2}lanes\.0\.tier: /),
    ]);
  });

  test('for want of a key says which variable to set, and the key opens the gateway', async () => {
    const refused = await parley(['list'], { url: guarded.url });
    expect([refused.code, refused.notes]).toEqual([2, expect.stringContaining('Set PARLEY_API_KEY')]);
    expect((await parley(['list'], { url: guarded.url, env: { PARLEY_API_KEY: 'key-for-the-tests' } })).code).toBe(0);
  });

  test('of a dead gateway says how to start one', async () => {
    const { notes } = await parley(['list', '--url', 'http://127.0.0.1:9']);
    expect(notes).toContain('Start Parley with `npm start`');
  });
});
