import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { fileTools } from '../../../activities/tools/files/index.js';
import type { ToolCall } from '../../../activities/tools/port.js';
import { never, rooms, toolCall } from './rig.js';

const { folder, remove } = rooms();
afterAll(remove);

/** A folder with files in it, and the tools for it. */
const roomWith = (files: Record<string, string | Uint8Array> = {}) => {
  const outside = folder();
  const path = join(outside, 'room');
  mkdirSync(path);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  writeFileSync(join(outside, 'secret.txt'), 'secret');
  const tools = fileTools(join(outside, 'namespaces'));
  const call = async (name: string, given: Record<string, unknown>, over: Partial<ToolCall> = {}) =>
    (await tools.call(toolCall(name, given, { workspace: { path, isReadOnly: false }, ...over }), never)) as Record<
      string,
      unknown
    >;
  return { path, outside, call, tools };
};

describe('a path of a tool for files', () => {
  const links = (path: string, outside: string): void => {
    symlinkSync(outside, join(path, 'up'));
    symlinkSync('../secret.txt', join(path, 'secret'));
    symlinkSync(join(outside, 'secret.txt'), join(path, 'absolute'));
    symlinkSync('sub/../../secret.txt', join(path, 'winding'));
    symlinkSync('chain-2', join(path, 'chain'));
    symlinkSync('up', join(path, 'chain-2'));
    symlinkSync('round', join(path, 'round'));
    symlinkSync('/proc/self/cwd', join(path, 'magic'));
  };
  const cases: [string, string, string][] = [
    ['../secret.txt', 'invalid_arguments', 'must stay inside'],
    ['sub/../../secret.txt', 'invalid_arguments', 'must stay inside'],
    ['..', 'invalid_arguments', 'must stay inside'],
    ['/etc/passwd', 'invalid_arguments', 'must be relative'],
    ['a\0b', 'invalid_arguments', 'must be relative'],
    ['', 'invalid_arguments', 'at least 1 character'],
    ['x'.repeat(5_000), 'invalid_arguments', 'at most 4096 characters'],
    ['secret', 'ESEC', 'leads out of the folder'],
    ['up/secret.txt', 'ESEC', 'only links within the folder are followed'],
    ['absolute', 'ESEC', 'only links within the folder are followed'],
    ['winding', 'ESEC', 'leads out of the folder'],
    ['chain/secret.txt', 'ESEC', 'only links within the folder are followed'],
    ['magic/package.json', 'ESEC', 'only links within the folder are followed'],
    ['round', 'invalid_request', 'from link to link'],
    [`${'d/'.repeat(1_000)}f`, 'invalid_request', 'folders deep'],
  ];
  const shortly = (path: string): string => JSON.stringify(path.length > 40 ? `${path.slice(0, 10)}…` : path);
  test.each(cases.map(([path, ...rest]) => [shortly(path), path, ...rest] as const))(
    '%s is refused by every tool',
    async (_, path, code, message) => {
      const { path: room, outside, call } = roomWith({ 'sub/file.txt': 'x' });
      links(room, outside);
      const before = readdirSync(outside);
      for (const [name, given] of [
        ['read_file', { path }],
        ['list_files', { path }],
        ['search_files', { patterns: 'secret', folders: [path] }],
        ['write_file', { path, content: 'taken' }],
      ] as const) {
        const answer = await call(name, given);
        // What a folder is not is said in another word by who wants one.
        if (name !== 'write_file' && path.startsWith('d/')) continue;
        expect(answer).toMatchObject({ status: 'error', code });
        expect(answer['message']).toContain(message);
        expect(answer['message']).toContain(`${name} was not carried out`);
      }
      expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('secret');
      expect(readdirSync(outside)).toEqual(before);
    },
  );

  test('goes by links that stay in the folder', async () => {
    const { path, call } = roomWith({ 'sub/file.txt': 'here\n' });
    symlinkSync('sub', join(path, 'same'));
    symlinkSync('../sub/file.txt', join(path, 'sub', 'again'));
    expect(await call('read_file', { path: 'same/again' })).toMatchObject({ status: 'ok', content: 'here\n' });
    expect(await call('write_file', { path: 'same/new.txt', content: 'n' })).toMatchObject({ status: 'ok' });
    expect(readFileSync(join(path, 'sub', 'new.txt'), 'utf8')).toBe('n');
  });

  test('leads nowhere else while a folder on the way is swapped for a link again and again', async () => {
    const { path, outside, call } = roomWith({ 'sub/secret.txt': 'mine' });
    const swap = `for i in $(seq 60); do mv sub gone; ln -s ${outside} sub; rm sub; mv gone sub; done`;
    const swapping = spawn('sh', ['-c', swap], { cwd: path });
    const ended = once(swapping, 'exit');
    const told = new Set<unknown>();
    while (swapping.exitCode === null) {
      const answer = await call('read_file', { path: 'sub/secret.txt' });
      told.add(answer['content'] ?? answer['code']);
      await setImmediate();
    }
    await ended;
    expect(told.has('mine')).toBe(true);
    expect(told.has('secret')).toBe(false);
  });
});

describe('an agent', () => {
  test('has a folder of its own below its team, and another works in it where it is told', async () => {
    const outside = folder();
    const tools = fileTools(outside);
    const put = await tools.call(toolCall('write_file', { path: 'x/y.txt', content: 'a' }), never);
    expect(put).toEqual({ status: 'ok', path: 'x/y.txt', bytes: 1, created: true });
    expect(readFileSync(join(outside, 'team-1', 'a', 'x', 'y.txt'), 'utf8')).toBe('a');
    const read = toolCall('read_file', { path: 'x/y.txt' }, { agentId: 'b', folderOf: 'b' });
    expect(await tools.call(read, never)).toMatchObject({ status: 'error', code: 'not_found' });
    expect(await tools.call({ ...read, folderOf: 'a' }, never)).toMatchObject({ content: 'a' });
  });

  test.each(['..', 'a/b', '', '.answers'])('that would have the folder %j has none', async (folderOf) => {
    const outside = folder();
    const answer = await fileTools(outside).call(toolCall('list_files', {}, { folderOf }), never);
    expect(answer).toMatchObject({ status: 'error', code: 'invalid_request' });
    expect(readdirSync(outside)).toEqual([]);
  });

  test('reads a read-only workspace and does not write there', async () => {
    const { path, call } = roomWith({ 'a.txt': 'a' });
    const workspace = { path, isReadOnly: true };
    expect(await call('read_file', { path: 'a.txt' }, { workspace })).toMatchObject({ status: 'ok' });
    expect(await call('write_file', { path: 'a.txt', content: 'b' }, { workspace })).toMatchObject({
      status: 'error',
      code: 'forbidden',
    });
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('a');
  });

  test('is told every fault of its arguments', async () => {
    const { call } = roomWith();
    const { code, message } = await call('read_file', { path: '/x', from_line: 0, lines: 3 });
    expect(code).toBe('invalid_arguments');
    for (const part of ['path must be relative', 'from_line', 'lines']) expect(message).toContain(part);
  });

  test('is told what its file system says, and not where that is', async () => {
    const { call } = roomWith();
    const answer = await call('write_file', { path: 'n'.repeat(300), content: '' });
    expect(answer).toEqual({
      status: 'error',
      code: 'failed',
      message: 'write_file failed: the file system of the worker said ENAMETOOLONG',
    });
  });
});

describe('read_file', () => {
  const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('');
  test.each<[string, string, Record<string, unknown>, Record<string, unknown>]>([
    ['a file', 'a\nb\n', {}, { content: 'a\nb\n', from_line: 1, to_line: 2, lines: 2 }],
    ['a last line without an end', 'a\nb', {}, { content: 'a\nb', from_line: 1, to_line: 2, lines: 2 }],
    ['an empty file', '', {}, { content: '', lines: 0 }],
    ['an empty line', '\n', {}, { content: '\n', from_line: 1, to_line: 1, lines: 1 }],
    ['some lines', numbered(9), { from_line: 3, to_line: 4 }, { content: 'line 3\nline 4\n', to_line: 4, lines: 9 }],
    ['lines to the end', numbered(9), { from_line: 9 }, { content: 'line 9\n', from_line: 9, to_line: 9 }],
    ['more lines than there are', numbered(2), { from_line: 2, to_line: 99 }, { content: 'line 2\n', to_line: 2 }],
    ['letters of every kind', 'über 世界 🙂\n', {}, { content: 'über 世界 🙂\n' }],
  ])('reads %s', async (_, content, range, answer) => {
    const { call } = roomWith({ 'f.txt': content });
    expect(await call('read_file', { path: 'f.txt', ...range })).toMatchObject({ status: 'ok', ...answer });
  });

  test('shows of 5 MB whole lines, says how to go on, and so reads all of it', async () => {
    const content = numbered(450_000);
    const { call } = roomWith({ 'f.txt': content });
    let read = '';
    let from = 1;
    for (let turn = 0; turn < 3; turn += 1) {
      const answer = await call('read_file', { path: 'f.txt', from_line: from });
      expect(answer['cut']).toBe(
        `lines ${from} to ${String(answer['to_line'])} of 450000 are shown; go on with from_line ${Number(answer['to_line']) + 1}`,
      );
      read += String(answer['content']);
      from = Number(answer['to_line']) + 1;
    }
    expect(read.length).toBeGreaterThan(400_000);
    expect(content.startsWith(read)).toBe(true);
    const end = await call('read_file', { path: 'f.txt', from_line: 449_999 });
    expect(end).toMatchObject({ content: 'line 449999\nline 450000\n', lines: 450_000 });
  });

  test('shows the beginning of a line that is too long', async () => {
    const { call } = roomWith({ 'f.txt': `a\n${'x'.repeat(400_000)}\nb\n` });
    const answer = await call('read_file', { path: 'f.txt', from_line: 2 });
    expect(answer['cut']).toContain('line 2 is longer than can be shown');
    expect(String(answer['content'])).toHaveLength(150_000);
    expect(await call('read_file', { path: 'f.txt', from_line: 3 })).toMatchObject({ content: 'b\n' });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['what is not there', { path: 'nothing' }, 'not_found'],
    ['a folder', { path: 'sub' }, 'invalid_request'],
    ['through a file', { path: 'f.txt/g' }, 'invalid_request'],
    ['what is no text', { path: 'sub/image' }, 'invalid_request'],
    ['behind the end', { path: 'f.txt', from_line: 2 }, 'invalid_request'],
    ['backwards', { path: 'f.txt', from_line: 2, to_line: 1 }, 'invalid_arguments'],
  ])('does not read %s', async (_, given, code) => {
    const { call } = roomWith({ 'f.txt': 'x\n', 'sub/image': Buffer.from([137, 80, 0, 1]) });
    expect(await call('read_file', given)).toMatchObject({ status: 'error', code });
  });

  test('is not held up by a pipe', async () => {
    const { path, call } = roomWith();
    execFileSync('mkfifo', [join(path, 'pipe')]);
    expect(await call('read_file', { path: 'pipe' })).toMatchObject({ status: 'error', code: 'invalid_request' });
    expect(await call('search_files', { patterns: 'x' })).toMatchObject({ status: 'ok', matches: [] });
  });
});

describe('write_file', () => {
  test('writes in place of what is there, keeps its mode, and leaves its other names alone', async () => {
    const { path, outside, call } = roomWith({ 'run.sh': 'old' });
    chmodSync(join(path, 'run.sh'), 0o755);
    linkSync(join(path, 'run.sh'), join(outside, 'other-name'));
    const answer = await call('write_file', { path: 'run.sh', content: 'né' });
    expect(answer).toEqual({ status: 'ok', path: 'run.sh', bytes: 3, created: false });
    expect(statSync(join(path, 'run.sh')).mode & 0o777).toBe(0o755);
    expect(readFileSync(join(outside, 'other-name'), 'utf8')).toBe('old');
  });

  test('appends where it is asked to', async () => {
    const { path, call } = roomWith({ 'log.txt': 'a\n' });
    await call('write_file', { path: 'log.txt', content: 'b\n', append: true });
    await call('write_file', { path: 'new.txt', content: 'c', append: true });
    expect(readFileSync(join(path, 'log.txt'), 'utf8')).toBe('a\nb\n');
    expect(readFileSync(join(path, 'new.txt'), 'utf8')).toBe('c');
  });

  test.each<[string, string]>([
    ['a folder', 'sub'],
    ['below a file', 'f.txt/g'],
  ])('does not write %s', async (_, path) => {
    const { path: room, call } = roomWith({ 'f.txt': 'x', 'sub/a': '' });
    expect(await call('write_file', { path, content: 'y' })).toMatchObject({
      status: 'error',
      code: 'invalid_request',
    });
    expect(readFileSync(join(room, 'f.txt'), 'utf8')).toBe('x');
    expect(readdirSync(room).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('goes by a link within the folder to what is not there yet', async () => {
    const { path, call } = roomWith({ 'sub/a': '' });
    symlinkSync('sub/later.txt', join(path, 'link'));
    await call('write_file', { path: 'link', content: 'x' });
    expect(readFileSync(join(path, 'sub', 'later.txt'), 'utf8')).toBe('x');
    expect(existsSync(join(path, 'link'))).toBe(true);
  });
});

describe('list_files', () => {
  const files = {
    'a.ts': '1',
    'b.md': '22',
    'src/c.ts': '',
    'src/deep/d.tsx': '',
    'node_modules/x/e.ts': '',
    '.git/f.ts': '',
  };
  const pathsOf = (answer: Record<string, unknown>): string[] =>
    (answer['entries'] as { path: string }[]).map(({ path }) => path);

  test('lists a folder with what each thing is', async () => {
    const { path, call } = roomWith(files);
    symlinkSync('/etc/passwd', join(path, 'link'));
    const { entries } = await call('list_files', {});
    expect(entries).toEqual([
      { path: '.git', type: 'folder' },
      { path: 'a.ts', type: 'file', bytes: 1 },
      { path: 'b.md', type: 'file', bytes: 2 },
      { path: 'link', type: 'link' },
      { path: 'node_modules', type: 'folder' },
      { path: 'src', type: 'folder' },
    ]);
  });

  test.each<[string, string[]]>([
    ['*.ts', ['a.ts', 'src/c.ts']],
    ['**/*.ts', ['a.ts', 'src/c.ts']],
    ['src/*.ts', ['src/c.ts']],
    ['src/**', ['src/c.ts', 'src/deep', 'src/deep/d.tsx']],
    ['src/**/*.{ts,tsx}', ['src/c.ts', 'src/deep/d.tsx']],
    ['?.md', ['b.md']],
    ['[ab].ts', []],
    ['(((((', []],
  ])('lists deeply what fits %s', async (pattern, paths) => {
    const { call } = roomWith(files);
    expect(pathsOf(await call('list_files', { recursive: true, pattern }))).toEqual(paths);
  });

  test('looks into what it passes over where that is named', async () => {
    const { call } = roomWith(files);
    expect(pathsOf(await call('list_files', { path: 'node_modules', recursive: true }))).toEqual(['x', 'x/e.ts']);
  });

  test('says that there is more than it shows', async () => {
    const { call } = roomWith(Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`f${at}`, ''])));
    const answer = await call('list_files', {});
    expect(pathsOf(answer)).toHaveLength(1_000);
    expect(answer['cut']).toContain('more than these 1000');
  });
});

describe('search_files', () => {
  const files = {
    'a.ts': 'const first = 1;\nconst second = first + 1;\n',
    'src/b.ts': 'first(second);\r\n',
    'src/c.md': 'First (of all)\n',
    'image.bin': Buffer.from('first\0'),
    '.git/config': 'first',
  };
  const matchesOf = (answer: Record<string, unknown>): string[] =>
    (answer['matches'] as { path: string; line: number; pattern?: string }[]).map(
      ({ path, line, pattern }) => `${path}:${line}${pattern === undefined ? '' : ` ${pattern}`}`,
    );
  test.each<[Record<string, unknown>, string[]]>([
    [{ patterns: 'first' }, ['a.ts:1', 'a.ts:2', 'src/b.ts:1']],
    [{ patterns: ['first'], folders: ['src'] }, ['src/b.ts:1']],
    [{ patterns: 'first', ignore_case: true, folders: ['src'] }, ['src/b.ts:1', 'src/c.md:1']],
    [{ patterns: '^const \\w+ = \\d;$' }, ['a.ts:1']],
    [{ patterns: 'first(', literal: true }, ['src/b.ts:1']],
    [{ patterns: 'FIRST(', literal: true, ignore_case: true }, ['src/b.ts:1']],
    [{ patterns: 'first', files: '*.md' }, []],
    [{ patterns: 'first', folders: ['a.ts', 'src', 'src/b.ts', '.'] }, ['a.ts:1', 'a.ts:2', 'src/b.ts:1']],
    [{ patterns: ['second', 'all'] }, ['a.ts:2 second', 'src/b.ts:1 second', 'src/c.md:1 all']],
    [{ patterns: 'first', folders: '.git' }, ['.git/config:1']],
    [{ patterns: 'nowhere' }, []],
  ])('%j finds %j', async (given, found) => {
    const { call } = roomWith(files);
    expect(matchesOf(await call('search_files', given))).toEqual(found);
  });

  test('shows the line, without its end, and says what it left out', async () => {
    const { call } = roomWith(files);
    expect(await call('search_files', { patterns: 'first', folders: ['src', 'image.bin'] })).toEqual({
      status: 'ok',
      matches: [{ path: 'src/b.ts', line: 1, text: 'first(second);' }],
      files_searched: 3,
      skipped: { binary: 1 },
    });
  });

  test('shows of a long line the part around the match, and no more matches than asked for', async () => {
    const { call } = roomWith({ 'f.txt': `${'a'.repeat(5_000)}needle${'b'.repeat(5_000)}\nneedle\nneedle\n` });
    const answer = await call('search_files', { patterns: 'needle', max_matches: 2 });
    const [first] = answer['matches'] as { text: string }[];
    expect(first?.text).toMatch(/^…a{50}needleb{244}…$/);
    expect(matchesOf(answer)).toEqual(['f.txt:1', 'f.txt:2']);
    expect(answer['cut']).toContain('more matches than these 2');
  });

  test('takes time in proportion for a pattern that others never come back from', async () => {
    const { call } = roomWith({ 'f.txt': `${'a'.repeat(10_000)}!\n` });
    expect(await call('search_files', { patterns: '^(a+)+$' })).toMatchObject({ status: 'ok', matches: [] });
  });

  test('refuses a pattern that takes long however short the line is', async () => {
    const { call } = roomWith({ 'f.txt': 'a'.repeat(20_000) });
    for (const patterns of ['a{1000}'.repeat(100), '(b{20}c{30}){30}']) {
      const answer = await call('search_files', { patterns });
      expect(answer).toMatchObject({ status: 'error', code: 'invalid_request' });
      expect(answer['message']).toContain('must be simpler: it has');
    }
    expect(await call('search_files', { patterns: 'a'.repeat(999), ignore_case: true, literal: true })).toMatchObject({
      matches: [{ path: 'f.txt' }],
    });
  });

  test('says what is wrong with a pattern, and with a folder that is not there', async () => {
    const { call } = roomWith(files);
    const wrong = await call('search_files', { patterns: ['ok', 'first('] });
    expect(wrong['message']).toMatch(/"first\(" is no regular expression.*literal: true/);
    expect(await call('search_files', { patterns: 'x', folders: ['src', 'lib'] })).toMatchObject({ code: 'not_found' });
  });

  test('stops when it is cancelled', async () => {
    const { tools, path } = roomWith(
      Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${at}`, 'x\n'.repeat(5_000)])),
    );
    const stop = new AbortController();
    const call = toolCall('search_files', { patterns: 'never (a|b)' }, { workspace: { path, isReadOnly: false } });
    const answer = tools.call(call, stop.signal);
    await Promise.all([
      expect(answer).rejects.toThrow('stopped'),
      setImmediate().then(() => stop.abort(new Error('stopped'))),
    ]);
  });
});
