import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { main } from '../../src/cli/program.js';
import type { InboxItem } from '../../src/contracts/inbox.js';
import { inboxListExample } from '../../src/gateway/routes/inbox-examples.js';
import { runCli } from '../support/run-cli.js';

/** A gateway that answers as the test says, for as long as `use` takes. */
const withGateway = async <T>(listener: RequestListener, use: (url: string) => Promise<T>): Promise<T> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
};

const [example] = inboxListExample.items as [InboxItem];
const item = (work_id: string): InboxItem => ({ ...example, work_id });
const notFound = { type: '', title: 'Nothing is here', status: 404, code: 'not_found', request_id: 'r' };

interface Standing {
  state?: string;
  lifecycle?: string;
  waiting?: { for: string; detail?: string } | null;
  ended_at?: string | null;
}
/** A gateway with one piece of work, at its path. */
const withWork = (path: string, over: Standing): RequestListener => {
  const waiting = over.waiting && {
    since: new Date().toISOString(),
    who_can_unblock: 'somebody',
    detail: 'it',
    ...over.waiting,
  };
  return (request, response) => {
    const isThere = request.url === path;
    const status = { id: 'w1', state: 'S', lifecycle: 'running', ended_at: null, ...over, waiting };
    response.writeHead(isThere ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isThere ? status : notFound));
  };
};

describe('parley why', () => {
  test.each<[string, string, Standing, RegExp]>([
    [
      'session',
      '/v1/sessions/w1',
      { waiting: { for: 'lane' } },
      /waits for lane.*\n.*it\n.*somebody\n.*\n.*parley session follow w1/,
    ],
    [
      'fan-out',
      '/v1/fan-outs/w1',
      { waiting: { for: 'worker' } },
      /waits for worker(.|\n)*parley doctor(.|\n)*parley fan-out cancel w1/,
    ],
    ['refinement', '/v1/refinements/w1', { waiting: { for: 'provider_limit' } }, /waits for provider limit/],
    ['debate', '/v1/debates/w1', { waiting: { for: 'person' } }, /waits for person(.|\n)*parley inbox /],
    ['session', '/v1/sessions/w1', { waiting: null }, /does not wait: it is S and moving/],
    [
      'debate',
      '/v1/debates/w1',
      { waiting: null, lifecycle: 'failed', ended_at: '2026-11-20T10:00:00.000Z' },
      /does not wait: it has ended \(failed, S\), \d+ \w+ ago\.\n +parley debate show w1/,
    ],
  ])('says of a %s at %s, %j, what it waits for and what to do', async (kind, path, over, words) => {
    const said = await withGateway(withWork(path, over), (url) => runCli({ PARLEY_URL: url }, ['why', 'w1']));
    expect([said.code, said.notes]).toEqual([0, '']);
    expect(said.out).toMatch(new RegExp(`^${kind} w1 `));
    expect(said.out).toMatch(words);
  });
});

describe('parley inbox', () => {
  test('says where nobody is asked anything, and names what could not be asked', async () => {
    const list = { items: [], open: 0, next_cursor: null };
    const unread = [{ work_id: 'd9', kind: 'debate', message: 'no worker.' }];
    const said = await withGateway(
      (_, response) => response.end(JSON.stringify({ ...list, unread })),
      (url) => runCli({ PARLEY_URL: url }, ['inbox']),
    );
    expect([said.code, said.out]).toEqual([0, 'Nobody is asked anything.']);
    expect(said.notes).toContain('d9 waits for a person, but cannot be asked: no worker.');
  });

  test('shows what people call the work, exactly what is approved, and how this list is answered', async () => {
    const content = { tasks: Array.from({ length: 30 }, (_, index) => `t${index}`), policy: 'p' };
    const items = [
      { ...item('run-1'), name: '401', content },
      { ...item('d2'), content: null },
    ];
    const said = await withGateway(
      (_, response) => response.end(JSON.stringify({ items, open: 2, unread: [], next_cursor: null })),
      (url) => runCli({ PARLEY_URL: url }, ['inbox']),
    );
    expect(said.out).toMatch(/^run-1 \(#401\) {2}debate approval/);
    expect(said.out).toContain('approves exactly this:\n    {\n      "tasks": [\n        "t0",');
    expect(said.out).toContain('approves what is shown with d2 itself');
    expect(said.notes).toContain(`parley answer - --as-of ${example.request.opened_at}`);
  });

  test('--all has every page, and --json one document', async () => {
    const said = await withGateway(
      ({ url }, response) => {
        const isFirst = !url!.includes('cursor=');
        const items = [item(isFirst ? 'd1' : 'd2')];
        response.end(JSON.stringify({ items, open: 2, unread: [], next_cursor: isFirst ? 'next' : null }));
      },
      (url) => runCli({ PARLEY_URL: url }, ['inbox', '--all', '--json']),
    );
    const { items } = JSON.parse(said.out) as { items: InboxItem[] };
    expect(items.map(({ work_id }) => work_id)).toEqual(['d1', 'd2']);
  });

  test('--watch tells what comes and goes, and after a cut only what is new', async () => {
    let connections = 0;
    const out: string[] = [];
    let interrupt = (): void => undefined;
    const event = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
    const code = await withGateway(
      (_, response) => {
        connections += 1;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const open = connections === 1 ? ['d1', 'd2'] : ['d2', 'd3'];
        response.write(open.map((id) => event('added', item(id))).join('') + event('ready', { open: 2 }));
        if (connections === 1) response.end();
      },
      (url) =>
        main(['inbox', '--watch', '--json'], {
          env: { PARLEY_URL: url },
          out: (line) => {
            out.push(line);
            if (line.includes('"removed"')) interrupt();
          },
          note: () => undefined,
          readStdin: () => Promise.resolve(''),
          terminal: null,
          onInterrupt: (listener) => {
            interrupt = listener;
            return () => undefined;
          },
        }),
    );
    expect(code).toBe(130);
    const told = out.map((line) => JSON.parse(line) as { event: string; data: { work_id: string } });
    expect(told.map(({ event: name, data }) => `${name} ${data.work_id}`)).toEqual([
      'added d1',
      'added d2',
      'added d3',
      'removed d1',
    ]);
  });
});

describe('parley answer', () => {
  test.each<[string, string, string]>([
    ['lines', 'd1: approve\n', 'text/plain; charset=utf-8'],
    ['a list', '[{"work_id":"d1","response":"approve"}]', 'application/json'],
  ])('sends %s as they are, and the exit code tells that one was refused', async (_, body, type) => {
    const sent: { type: string | undefined; body: string; url: string }[] = [];
    const refused = {
      work_id: 'd1',
      request_id: null,
      code: 'wrong_state',
      message: 'too late.',
      open: false,
      valid: [],
    };
    const said = await withGateway(
      (request, response) => {
        void text(request).then((content) => {
          sent.push({ type: request.headers['content-type'], body: content, url: request.url! });
          response.end(JSON.stringify({ applied: [], warnings: ['w.'], errors: [refused], reprompt: null }));
        });
      },
      (url) => runCli({ PARLEY_URL: url }, ['answer', '-', '--as', 'anna'], body),
    );
    expect(sent).toEqual([{ type, body, url: '/v1/inbox/answers?provided_by=anna' }]);
    expect([said.code, said.out]).toEqual([2, '! w.\n✗ d1: too late.']);
  });

  test('says when the list was read, and refuses a time that is none before anything is sent', async () => {
    const sent: string[] = [];
    const give = (asOf: string) =>
      withGateway(
        (request, response) => {
          sent.push(request.url!);
          response.end(JSON.stringify({ applied: [], warnings: [], errors: [], reprompt: null }));
        },
        (url) => runCli({ PARLEY_URL: url }, ['answer', '-', '--as-of', asOf], '1: approve'),
      );
    expect((await give('2026-11-21T10:00:00+01:00')).code).toBe(0);
    expect(await give('yesterday')).toMatchObject({
      code: 2,
      notes: expect.stringContaining('must be a time such as'),
    });
    expect(sent).toEqual(['/v1/inbox/answers?as_of=2026-11-21T09%3A00%3A00.000Z']);
  });

  test('binds a file to what was asked when it was written', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-answers-'));
    const file = join(folder, 'answers.txt');
    await writeFile(file, 'd1: approve\n');
    await utimes(file, 1_790_000_000, 1_790_000_000);
    let sent = '';
    await withGateway(
      (request, response) => {
        sent = request.url!;
        response.end(JSON.stringify({ applied: [], warnings: [], errors: [], reprompt: null }));
      },
      (url) => runCli({ PARLEY_URL: url }, ['answer', file]),
    );
    await rm(folder, { recursive: true });
    expect(decodeURIComponent(sent)).toBe('/v1/inbox/answers?as_of=2026-09-21T14:13:20.000Z');
  });

  test('tells by the exit code that nothing counted', async () => {
    const said = await withGateway(
      (_, response) =>
        response.end(JSON.stringify({ applied: [], warnings: ['#9 is not known here.'], errors: [], reprompt: null })),
      (url) => runCli({ PARLEY_URL: url }, ['answer', '-'], '#9: approve'),
    );
    expect([said.code, said.out]).toEqual([2, '! #9 is not known here.']);
  });

  test('refuses what begins as a list and is none, before anything is sent', async () => {
    const said = await runCli({ PARLEY_URL: 'http://127.0.0.1:1' }, ['answer', '-'], '[{"work_id":');
    expect([said.code, said.notes]).toMatchObject([2, expect.stringContaining('begins as a JSON list, but is none')]);
  });
});
