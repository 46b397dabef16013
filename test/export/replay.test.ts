import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StoryEntry, WorkExport } from '../../src/contracts/export.js';
import type { ReplayReport } from '../../src/domain/export/report.js';
import { runCli } from '../support/run-cli.js';

const scratch = mkdtempSync(join(tmpdir(), 'parley-replay-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const bundle = process.env['TEST_WORKFLOW_BUNDLE'] ?? '';
const textOf = (kind: string): string =>
  readFileSync(fileURLToPath(new URL(`../replay/exports/${kind}.json`, import.meta.url)), 'utf8');

let files = 0;
const replay = async (text: string, ...argv: string[]) => {
  const file = join(scratch, `file-${(files += 1)}.json`);
  writeFileSync(file, text);
  return await runCli({}, ['replay', file, '--bundle', bundle, ...argv]);
};
const edited = (kind: string, edit: (document: WorkExport) => void): string => {
  const document = JSON.parse(textOf(kind)) as WorkExport;
  edit(document);
  return JSON.stringify(document);
};

describe('parley replay', () => {
  test('says that a file replays to what was recorded', async () => {
    const { code, out } = await replay(textOf('session'));
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^same: session exported-session, \d+ events, \d+ checkpoints$/),
    ]);
  });

  test('reads standard input', async () => {
    const { code } = await runCli({}, ['replay', '-', '--bundle', bundle], textOf('session'));
    expect(code).toBe(0);
  });

  const noFile = join(scratch, 'not-there.json');
  test('says that there is no file', async () => {
    const { code, notes } = await runCli({}, ['replay', noFile, '--bundle', bundle]);
    expect([code, notes]).toEqual([2, expect.stringContaining(`${noFile} cannot be read`)]);
  });

  test.each<[string, () => string, RegExp]>([
    ['empty', () => '', /it is empty/],
    [
      'cut off',
      () => textOf('session').slice(0, 4_000),
      /it ends in the middle, at line \d+, column \d+: it was cut off/,
    ],
    ['no JSON', () => textOf('session').replace('"kind":', '"kind"'), /it is no JSON at line 6, column \d+/],
    ['another document', () => '{"format":"other"}', /it is no export: its "format" must be "parley.export"/],
    ['a list', () => '[]', /it is no export/],
    [
      'newer',
      () => edited('session', (file) => Object.assign(file, { version: 2 })),
      /of version 2, .* take a newer one/,
    ],
    [
      'older',
      () => edited('session', (file) => Object.assign(file, { version: 0 })),
      /of version 0, .* export the work again/,
    ],
    [
      'without its checksum',
      () => edited('session', (file) => Reflect.deleteProperty(file, 'checksum')),
      /it is no whole export\.\n {2}checksum: is missing/,
    ],
    [
      'wrong in several places',
      () => edited('session', (file) => Object.assign(file, { kind: 'teams', story: {}, more: 1 })),
      /kind: must be session[^]*story: must be a list[^]*more: unknown field "more"/,
    ],
    [
      'with an event that is none',
      () => edited('session', (file) => Object.assign(file.runs[0]!.history.events[4]!, { eventId: 5 })),
      /runs\[0\]\.history\.events\[4\]\.eventId: must be a text; got 5/,
    ],
    [
      'edited in its setup',
      () => edited('session', (file) => Object.assign(file.setup as object, { prompt: 'Which shape?' })),
      /its checksum is wrong, it is not as it was written\.\n {2}setup was changed\nReplay it all the same with --accept-edited/,
    ],
    [
      'without one of its events',
      () => edited('session', (file) => void file.runs[0]!.history.events.splice(7, 1)),
      / {2}runs\[0\] was changed/,
    ],
    [
      'edited in its kind',
      () => edited('session', (file) => Object.assign(file, { id: 'other' })),
      / {2}about was changed/,
    ],
    [
      'edited in its checksum',
      () => edited('session', ({ checksum }) => Object.assign(checksum, { whole: `sha256:${'0'.repeat(64)}` })),
      /the checksum itself was changed/,
    ],
  ])('refuses a file that is %s, and says where', async (_, text, words) => {
    const { code, notes, out } = await replay(text());
    expect([code, out]).toEqual([2, '']);
    expect(notes).toMatch(words);
  });
});

const model = ({ part, what }: StoryEntry): boolean => part === 'model' && (what === 'answered' || what === 'told');
/** Puts a text for another in what is told, wherever it stands. */
const retell = (document: WorkExport, isMeant: (entry: StoryEntry) => boolean, from: string, to: string): void => {
  for (const entry of document.story)
    if (isMeant(entry)) entry.values = JSON.parse(JSON.stringify(entry.values).replaceAll(from, to)) as never;
};
const report = async (text: string) => {
  const { code, out } = await replay(text, '--accept-edited', '--json');
  return { code, report: JSON.parse(out) as ReplayReport & { edited: string[] } };
};

describe('parley replay --accept-edited', () => {
  test('shows the first checkpoint that differs when a model says something else', async () => {
    const text = edited('session', (file) => retell(file, model, 'red', 'blue'));
    const { code, out, notes } = await replay(text, '--accept-edited');
    expect([code, notes]).toEqual([1, 'Edited since it was written: story was changed.']);
    expect(out).toMatch(/^differs: session exported-session/);
    expect(out).toMatch(/the first checkpoint that differs is CP-\d+ \(b, [A-Z]+, event \d+\):/);
    expect(out).toMatch(/recorded {2}"red"\n {6}replayed {2}"blue"/);
    expect(out).toContain('the outcome:');
  });

  test('shows where another answer of a person leads', async () => {
    const isPerson = ({ part }: StoryEntry): boolean => part === 'person';
    const text = edited('debate', (file) => retell(file, isPerson, '"approve"', '"reject"'));
    const { code, report: told } = await report(text);
    expect([code, told.edited]).toEqual([1, ['story was changed']]);
    const [first] = told.checkpoints;
    expect(first?.fields.map(({ from, to }) => [from, to])).toContainEqual(['approve', 'reject']);
    // Nobody ran what would come then: the recorded task is not asked for.
    expect(told.refusal).toMatchObject({ reason: expect.stringMatching(/Nondeterminism|No command scheduled/) });
    expect(told.refusal!.event_id).toBeGreaterThan(first!.event_id);
  });

  test('shows a prompt that is another one, in what agents are asked and in every state', async () => {
    const text = edited('refinement', ({ setup }) => Object.assign(setup as object, { task: 'Write something else' }));
    const { code, report: told } = await report(text);
    expect([code, told.refusal, told.edited]).toEqual([1, null, ['setup was changed']]);
    expect(told.calls[0]).toMatchObject({ name: 'generateVersion' });
    expect(JSON.stringify(told.calls[0]!.fields)).toContain('Write something else');
    expect(told.checkpoints[0]).toMatchObject({
      sequence_num: 0,
      fields: [{ at: '/state/status/task', from: 'Write it', to: 'Write something else' }],
    });
  });

  test('says which event refers to what was taken away', async () => {
    const text = edited('session', ({ story }) => void story.splice(3));
    const { code, notes } = await replay(text, '--accept-edited');
    expect(code).toBe(2);
    expect(notes).toMatch(
      /runs\[0\]\.history\.events\[\d+\]\S* refers to \/story\/\d+\/values\/0, and nothing is there/,
    );
  });

  test('says at which event a history with a hole does not fit', async () => {
    const text = edited('refinement', ({ runs }) => {
      const { events } = runs[0]!.history;
      const at = events.findIndex(({ eventType }) => eventType === 'EVENT_TYPE_TIMER_STARTED');
      events.splice(at, 1);
    });
    const { code, report: told } = await report(text);
    expect(code).toBe(1);
    expect(told.refusal?.reason).not.toBe('');
  });
});
