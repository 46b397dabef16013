import { on } from 'node:events';
import { existsSync, readFileSync, watch } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandbox } from '../../../activities/sandbox/index.js';
import { findSandbox } from '../../support/parts.js';
import { agentsOf, allOf, answerOf, ask, listening, requestOf } from './agents.js';

const node = process.execPath;
const environment = { PATH: process.env['PATH'], HOME: '/home/of-the-worker', OPENAI_API_KEY: 'secret' };
const trusting = (given: { cwd?: string } = {}) =>
  agentsOf({ environment, trustedCommands: [['sh'], ['node'], [node, '-e'], ['cat'], ['./agent.sh']], ...given });
const sh = (script: string) => ({ kind: 'command' as const, argv: ['sh', '-c', script] });

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-command-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Settles when a file of that name has content. */
const contentOf = async (name: string): Promise<string> => {
  // Of node:fs, as that of node:fs/promises looks at the folder no earlier than its first change is asked for.
  const watcher = watch(folder);
  const changes = on(watcher, 'change');
  const read = async (): Promise<string> => {
    try {
      return await readFile(join(folder, name), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
      throw error;
    }
  };
  try {
    let content = await read();
    while (content === '') {
      await changes.next();
      content = await read();
    }
    return content;
  } finally {
    watcher.close();
  }
};

/** One that has ended and waits to be collected by its parent, init perhaps, is not alive. */
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = `/proc/${pid}/stat`;
  return !(existsSync(stat) && /\) Z /.test(readFileSync(stat, 'utf8')));
};

/** Settles when a process that is not our child is gone: nothing tells, so it is looked for. */
const goneOf = async (pid: number): Promise<void> => {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
};

describe('a command', () => {
  test('streams its standard output as partials, and its exit 0 is the final', async () => {
    const { frames } = await ask(trusting(), { kind: 'command', argv: ['cat'] }, { prompt: 'Which colour?' });
    expect(frames).toEqual([
      { type: 'partial', msg_seq: 1, frag_seq: 0, last: true, text: 'Which colour?' },
      { type: 'final', msg_seq: 2 },
    ]);
  });

  test('reads stdin where it is given, else the prompt', async () => {
    const { frames } = await ask(trusting(), { kind: 'command', argv: ['cat'], stdin: 'another text' });
    expect(answerOf(frames)).toBe('another text');
  });

  test('may end without reading its input', async () => {
    const { frames } = await ask(trusting(), sh('echo done'), { prompt: 'x'.repeat(900_000) });
    expect(answerOf(frames)).toBe('done');
  });

  test('keeps the line ends inside its answer and drops those at its end', async () => {
    const { frames } = await ask(trusting(), sh('printf "a\\n"; printf "\\nb\\r\\n\\n"'));
    expect(answerOf(frames)).toBe('a\n\nb');
  });

  test('may split a character over two writes', async () => {
    const script = `const b = Buffer.from('blåu€'); let i = 0;
      const next = () => i < b.length && process.stdout.write(b.subarray(i, ++i), () => setImmediate(next)); next();`;
    const { frames } = await ask(trusting(), { kind: 'command', argv: [node, '-e', script] });
    expect(answerOf(frames)).toBe('blåu€');
  });

  test('sees a clean environment, who asks, and what the request adds', async () => {
    const adapter = { ...sh('env'), env: { COLOUR: 'blue' } };
    const { frames } = await ask(trusting(), adapter, { instructions: 'Be brief.', diversitySeed: 3 });
    const shellsOwn = new Set(['PWD', 'OLDPWD', 'SHLVL', '_']);
    const seen = answerOf(frames).split('\n');
    expect(seen.filter((line) => !shellsOwn.has(line.split('=')[0] ?? '')).sort()).toEqual([
      'COLOUR=blue',
      'HOME=/home/of-the-worker',
      'PARLEY_DIVERSITY_SEED=3',
      'PARLEY_INSTRUCTIONS=Be brief.',
      'PARLEY_LANE_ID=a',
      'PARLEY_PERSONA_ID=painter',
      'PARLEY_SESSION_ID=session-1',
      `PATH=${process.env['PATH']}`,
    ]);
  });

  test('that fails names its exit code and the end of its standard error', async () => {
    const { frames } = await ask(trusting(), sh('echo half; echo "no such colour" >&2; exit 3'));
    expect(frames).toEqual([
      { type: 'partial', msg_seq: 1, frag_seq: 0, last: true, text: 'half' },
      { type: 'fail', code: 'EAGENTDOWN', message: 'sh ended with exit code 3: no such colour', retryable: false },
    ]);
  });

  test('that is killed names the signal', async () => {
    const { frames } = await ask(trusting(), sh('kill -9 $$'));
    expect(frames).toEqual([
      { type: 'fail', code: 'EAGENTDOWN', message: 'sh was ended by SIGKILL', retryable: false },
    ]);
  });

  test('that writes more than a mebibyte fails and is ended', async () => {
    const argv = ['sh', '-c', 'echo $$ > "$0/noisy"; exec yes', folder];
    const { frames } = await ask(trusting(), { kind: 'command', argv });
    expect(frames.at(-1)).toEqual({
      type: 'fail',
      code: 'EPROTO',
      message: 'sh wrote more than 1048576 bytes; an answer has at most that',
      retryable: false,
    });
    expect(isAlive(Number(await contentOf('noisy')))).toBe(false);
  });

  test('that nobody pulls is held up by its own output', async () => {
    const script = `require('fs').writeSync(1, 'x'.repeat(600000)); require('fs').writeFileSync(process.argv[1], 'written')`;
    const run = (name: string) =>
      trusting().open(
        requestOf({ kind: 'command', argv: [node, '-e', script, join(folder, name)] }),
        listening().context,
      );
    const held = await run('held');
    // The same program, started later, is through: the first one is not, since its output is still in the pipe.
    expect(answerOf(await allOf(await run('through')))).toHaveLength(600_000);
    expect(await contentOf('through')).toBe('written');
    await expect(readFile(join(folder, 'held'), 'utf8')).rejects.toThrow('ENOENT');
    expect(answerOf(await allOf(held))).toHaveLength(600_000);
    expect(await contentOf('held')).toBe('written');
  });
});

describe('a command that is aborted', () => {
  test.each([
    ['ends on SIGTERM', ''],
    ['is killed when it does not heed SIGTERM', 'trap "" TERM; '],
  ])('%s, and so does all it started', async (_, prelude) => {
    const name = `pids-${prelude.length}`;
    const script = `${prelude}sleep 1000 & echo "$$ $!" > "$0/part"; mv "$0/part" "$0/$1"; echo started; while :; do sleep 1; done`;
    const { context, controller } = listening();
    const request = requestOf({ kind: 'command', argv: ['sh', '-c', script, folder, name] });
    const frames = (await trusting().open(request, context))[Symbol.asyncIterator]();
    expect(await frames.next()).toMatchObject({ value: { text: 'started' } });
    const [leader, child] = (await contentOf(name)).trim().split(' ').map(Number);
    const waiting = frames.next();
    controller.abort();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(isAlive(leader!)).toBe(false);
    await goneOf(child!);
  });

  test('ends also when nobody pulls any more', async () => {
    const { context, controller } = listening();
    const argv = ['sh', '-c', 'echo $$ > "$0/part2"; mv "$0/part2" "$0/unpulled"; exec yes', folder];
    await trusting().open(requestOf({ kind: 'command', argv }), context);
    const pid = Number(await contentOf('unpulled'));
    controller.abort();
    await goneOf(pid);
  });

  test('before it started is not left running', async () => {
    const { context, controller } = listening();
    controller.abort();
    const frames = await trusting().open(requestOf(sh('sleep 1000')), context);
    expect(await allOf(frames)).toEqual([]);
  });

  test('by leaving its frames is ended', async () => {
    const argv = ['sh', '-c', 'echo $$; exec sleep 1000'];
    const frames = await trusting().open(requestOf({ kind: 'command', argv }), listening().context);
    let pid = 0;
    for await (const frame of frames) {
      if (frame.type === 'partial') pid = Number(frame.text);
      break;
    }
    expect(isAlive(pid)).toBe(false);
  });
});

describe('a command that ends', () => {
  test('takes what it left in the background with it', async () => {
    const { frames } = await ask(trusting(), sh('sleep 1000 & echo $!'));
    await goneOf(Number(answerOf(frames)));
    expect(frames.at(-1)).toMatchObject({ type: 'final' });
  });
});

describe('the operator', () => {
  const refusal = (argv: string[], env?: Record<string, string>): Promise<unknown> =>
    trusting().open(requestOf({ kind: 'command', argv, ...(env === undefined ? {} : { env }) }), listening().context);

  test.each([
    [['rm', '-rf', '/'], 'rm'],
    [[node], node],
    [[node, '--version'], node],
    [['./cat'], './cat'],
  ])('who does not trust %j and has no sandbox is told what to install or set', async (argv, program) => {
    await expect(refusal(argv)).rejects.toMatchObject({
      code: 'ESEC',
      message: `command ${JSON.stringify(program)} is not trusted by the operator of this worker, and so would run in a sandbox: no sandbox works on this worker. bubblewrap: install it. To run it outside of one, set PARLEY_TRUSTED_COMMANDS='[[${JSON.stringify(program)}]]' (a JSON list of argv beginnings) in the worker's environment.`,
    });
  });

  test('who trusts an empty list trusts nothing', async () => {
    const agents = agentsOf({ environment, trustedCommands: [[]] });
    await expect(agents.open(requestOf(sh('true')), listening().context)).rejects.toMatchObject({ code: 'ESEC' });
  });

  test.each(['PATH', 'LD_PRELOAD', 'NODE_OPTIONS', 'BASH_ENV', 'PYTHONSTARTUP'])(
    'does not let %s turn a trusted program into another',
    async (name) => {
      await expect(refusal(['sh', '-c', 'true'], { [name]: 'x' })).rejects.toMatchObject({
        code: 'ESEC',
        message: expect.stringContaining(`env ${name} could make a trusted program run another one`) as string,
      });
    },
  );

  test('who trusts a program that is not there is told where it was looked for', async () => {
    await expect(
      trusting({ cwd: folder }).open(requestOf({ kind: 'command', argv: ['./agent.sh'] }), listening().context),
    ).rejects.toMatchObject({
      code: 'EAGENTDOWN',
      message: expect.stringContaining(`program "./agent.sh" was not found (looked for ${folder}/agent.sh)`) as string,
    });
  });
});

test('a program is found where the worker runs it from', async () => {
  await writeFile(join(folder, 'agent.sh'), '#!/bin/sh\necho "in $(pwd)"\n');
  await chmod(join(folder, 'agent.sh'), 0o755);
  const { frames } = await ask(trusting({ cwd: folder }), { kind: 'command', argv: ['./agent.sh'] });
  expect(answerOf(frames)).toBe(`in ${folder}`);
});

const describeWithBubblewrap = findSandbox() === null ? describe.skip : describe;

describeWithBubblewrap('a command that nobody trusts', () => {
  const sandbox = createSandbox({
    settings: { backends: ['bubblewrap'], network: false, readFolders: [], image: '' },
    environment: process.env,
    bubblewrap: findSandbox(),
    hidden: [],
  });
  const agents = () => agentsOf({ environment, sandbox });

  test('runs in a sandbox: an empty folder, a clean environment, no network, nothing of the host', async () => {
    const script = `ls -A; env | grep -c OPENAI; ls /root ${folder} 2>/dev/null; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; id -u; cat`;
    const { frames } = await ask(agents(), sh(script), { prompt: 'Which colour?' });
    expect(answerOf(frames)).toBe('0\nlo\n1000\nWhich colour?');
    expect(frames.at(-1)).toMatchObject({ type: 'final' });
  });

  test('hears who asks, and what the request adds, also what a trusted one must not', async () => {
    const adapter = {
      ...sh('echo "$PARLEY_SESSION_ID $PARLEY_LANE_ID $PARLEY_INSTRUCTIONS $NODE_OPTIONS"'),
      env: { NODE_OPTIONS: 'x' },
    };
    const { frames } = await ask(agents(), adapter, { instructions: "It's a test." });
    expect(answerOf(frames)).toBe("session-1 a It's a test. x");
  });

  test('streams as it goes', async () => {
    const frames = (await agents().open(requestOf(sh('echo one; exec sleep 1000')), listening().context))[
      Symbol.asyncIterator
    ]();
    expect(await frames.next()).toMatchObject({ value: { type: 'partial', text: 'one' } });
    await frames.return!();
  });

  test.each<[string, string, string]>([
    ['fails', 'echo half; echo "no such colour" >&2; exit 3', 'sh ended with exit code 3: no such colour'],
    ['is killed', 'kill -9 $$', 'sh was ended by SIGKILL'],
    ['is not seen there', 'exec no-such-agent', 'PARLEY_SANDBOX_READ)'],
  ])('that %s says so', async (_, script, message) => {
    const { frames } = await ask(agents(), sh(script));
    expect(frames.at(-1)).toMatchObject({
      ...{ type: 'fail', code: 'EAGENTDOWN', retryable: false },
      message: expect.stringContaining(message) as string,
    });
  });

  test('that writes more than a mebibyte fails and is ended', async () => {
    const { frames } = await ask(agents(), sh('yes "a long answer"'));
    expect(frames.at(-1)).toMatchObject({ type: 'fail', code: 'EPROTO' });
  });

  test('that is aborted ends, whether somebody pulls or not', async () => {
    const [pulled, unpulled] = [listening(), listening()];
    const frames = (await agents().open(requestOf(sh('echo started; exec sleep 1000')), pulled.context))[
      Symbol.asyncIterator
    ]();
    await agents().open(requestOf(sh('exec yes')), unpulled.context);
    await frames.next();
    const waiting = frames.next();
    pulled.controller.abort();
    unpulled.controller.abort();
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  test('that nobody pulls is held up by its own output', async () => {
    const script = `require('fs').writeSync(1, 'x'.repeat(600000)); console.error('through')`;
    const argv = [node, '-e', script];
    const held = await agents().open(requestOf({ kind: 'command', argv }), listening().context);
    // The same program, started later, is through.
    expect(
      answerOf(await allOf(await agents().open(requestOf({ kind: 'command', argv }), listening().context))),
    ).toHaveLength(600_000);
    expect(answerOf(await allOf(held))).toHaveLength(600_000);
  });
});
