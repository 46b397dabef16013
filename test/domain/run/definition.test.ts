import { openRunSchema, type OpenRunBody } from '../../../src/contracts/run.js';
import { setUpRun } from '../../../src/domain/run/set-up-run.js';
import { aGate, aStep, identity, refinementWith, runBody, stepSetUp } from '../../support/run-play.js';

/** Every fault of a body, as `path: message`. */
const faults = (body: object): string[] => {
  const read = openRunSchema.safeParse(body);
  if (!read.success) return read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  const set = setUpRun(read.data, identity, stepSetUp);
  return 'faults' in set ? set.faults.map(({ path, message }) => `${path}: ${message}`) : [];
};
const gated = (gate: object): object => runBody([{ ...aStep('a'), gate } as never]);
const asking = (gate: object): object => runBody([{ name: 'a', kind: 'gate', gate } as never]);
const at = (path: string): string => `phases.0.steps.0.${path}`;

describe('a run', () => {
  test('with one command, nothing else, can be set up', () => {
    expect(faults(runBody([aStep('a')]))).toEqual([]);
  });

  test.each<[unknown, string]>([
    [300, '300'],
    [' 124 ', '124'],
  ])('on the work id %j works on "%s"', (work_id, expected) => {
    const { work_id: read } = openRunSchema.parse({ ...runBody([aStep('a')]), work_id });
    expect(read).toBe(expected);
  });

  test.each<[string, object, string]>([
    ['whose work id is no number of anything', { ...runBody([aStep('a')]), work_id: -1 }, 'work_id: '],
    ['without a work id', { ...runBody([aStep('a')]), work_id: '' }, 'work_id: must name what the run works on'],
    ['whose work id has a colon', { ...runBody([aStep('a')]), work_id: '#1: x' }, 'work_id: must have no blanks'],
    ['without phases', { work_id: '1', phases: [] }, 'phases: must have at least one phase'],
    ['with an empty phase', { work_id: '1', phases: [{ steps: [] }] }, 'phases.0.steps: must have at least one step'],
    ['with a field of nobody', { ...runBody([aStep('a')]), colour: 1 }, ': Unrecognized key: "colour"'],
    [
      'that starts a run',
      runBody([{ ...aStep('a'), kind: 'run' } as never]),
      `${at('kind')}: cannot be run: a run starts no runs`,
    ],
    [
      'that starts a coordinator',
      runBody([{ ...aStep('a'), kind: 'coordinator' } as never]),
      `${at('kind')}: cannot be coordinator: a run starts no runs`,
    ],
    [
      'with a kind that is none',
      runBody([{ ...aStep('a'), kind: 'walk' } as never]),
      `${at('kind')}: must be session, debate, fan-out, refinement, team, command or gate; got "walk"`,
    ],
    ['with a dot in the name of a step', runBody([aStep('a.b')]), `${at('name')}: must be 1 to 32 letters`],
    [
      'with a choice that several have to make',
      asking({ prompt: 'x', type: 'choice', options: ['a'], k: 2 }),
      `${at('gate.k')}: must be left out: only an approval has it`,
    ],
    [
      'that needs more approvals than it has approvers',
      gated({ prompt: 'x', k: 2, approvers: ['anna', 'Anna'] }),
      `${at('gate.k')}: must be at most the number of different approvers: 1; got 2`,
    ],
    [
      'that escalates to nobody',
      gated({ prompt: 'x', escalate_after_ms: 5 }),
      `${at('gate.escalate_to')}: is missing: say who else is asked then`,
    ],
    ['with a name twice', runBody([aStep('a'), aStep('a')]), 'phases.0.steps.1.name: "a" is taken by steps[0]'],
    [
      'with a phase twice',
      {
        work_id: '1',
        phases: [
          { name: 'x', steps: [aStep('a')] },
          { name: 'x', steps: [aStep('a')] },
        ],
      },
      'phases.1.name: "x" is taken by phases[0]',
    ],
    [
      'with a phase of a preset name twice',
      { work_id: '1', phases: [{ steps: [aStep('a')] }, { name: 'frame', steps: [aStep('a')] }] },
      'phases.1.name: "frame" is taken by phases[0]',
    ],
    [
      'with a sixth phase without a name',
      { work_id: '1', phases: [0, 1, 2, 3, 4, 5].map(() => ({ steps: [aStep('a')] })) },
      'phases.5.name: is missing: only the first 5 phases have preset names',
    ],
    ['with a gate step that asks nothing', runBody([aStep('a', { kind: 'gate' })]), `${at('gate')}: is missing`],
    [
      'with a gate step that does something',
      runBody([{ ...aGate('a'), with: { argv: ['x'] } }]),
      `${at('with')}: must be left out`,
    ],
    [
      'with a gate step that fails',
      runBody([{ ...aGate('a'), on_error: 'ask' }]),
      `${at('on_error')}: must be left out`,
    ],
    [
      'with a folder and a repository',
      { ...runBody([aStep('a')]), workspace: { path: '/a', repo: '/b' } },
      'workspace: must have either path',
    ],
    ['with neither of them', { ...runBody([aStep('a')]), workspace: {} }, 'workspace: must have either path'],
    [
      'with a branch of a folder',
      { ...runBody([aStep('a')]), workspace: { path: '/a', branch: 'b' } },
      'workspace.branch: needs repo',
    ],
    [
      'with a relative folder',
      { ...runBody([aStep('a')]), workspace: { path: 'a' } },
      'workspace.path: must be an absolute path',
    ],
    ...['--force', 'a..b', 'a b', 'a.lock', 'a/', '@{1}', '.a'].map((branch): [string, object, string] => [
      `with the branch ${branch}`,
      { ...runBody([aStep('a')]), workspace: { repo: '/a', branch } },
      'workspace.branch: must be the name of a branch',
    ]),
    [
      'with a gate of a failure',
      gated({ type: 'error_resolution', prompt: 'x' }),
      `${at('gate.type')}: cannot be error_resolution`,
    ],
    ['with a gate without a question', gated({ prompt: ' ' }), `${at('gate.prompt')}: must say what is asked`],
    ['with a choice of nothing', gated({ type: 'choice', prompt: 'x' }), `${at('gate.options')}: must be listed`],
    [
      'with an input of options',
      gated({ type: 'input', prompt: 'x', options: ['a'] }),
      `${at('gate.options')}: must be left out`,
    ],
    [
      'with an empty list of options',
      gated({ prompt: 'x', options: [] }),
      `${at('gate.options')}: must list at least one option`,
    ],
    [
      'with an option twice',
      gated({ type: 'choice', prompt: 'x', options: ['left', 'LEFT'] }),
      `${at('gate.options.1')}: "LEFT" is taken by [0]; case is ignored`,
    ],
    [
      'with an option of its own in an approval',
      gated({ prompt: 'x', options: ['approve', 'ship'] }),
      `${at('gate.options.1')}: must be approve, request_changes or reject`,
    ],
    [
      'with an approval that cannot be given',
      gated({ prompt: 'x', options: ['reject'] }),
      `${at('gate.options')}: must offer approve`,
    ],
    [
      'with changes that nothing can take up',
      asking({ prompt: 'x', options: ['approve', 'request_changes'] }),
      `${at('gate.options.1')}: cannot be request_changes: no step comes before`,
    ],
    [
      'with an end without a time',
      gated({ prompt: 'x', on_timeout: 'reject' }),
      `${at('gate.on_timeout')}: needs timeout_ms`,
    ],
    [
      'with an approval that a timeout gives',
      gated({ prompt: 'x', timeout_ms: 1, on_timeout: 'approve' }),
      `${at('gate.on_timeout')}: cannot be approve: what nobody has looked at is not approved`,
    ],
    [
      'with a choice whose timeout is nothing',
      gated({ type: 'choice', prompt: 'x', options: ['a'], timeout_ms: 1 }),
      `${at('gate.on_timeout')}: is missing`,
    ],
    [
      'with a choice whose timeout is no option',
      gated({ type: 'choice', prompt: 'x', options: ['a', 'b'], timeout_ms: 1, on_timeout: 'c' }),
      `${at('gate.on_timeout')}: must be a, b; got "c"`,
    ],
    [
      'with an input whose timeout is nothing',
      gated({ type: 'input', prompt: 'x', timeout_ms: 1 }),
      `${at('gate.on_timeout')}: is missing`,
    ],
  ])('%s is refused by path, and told what would be right', (_, body, fault) => {
    expect(faults(body)).toEqual([expect.stringContaining(fault)]);
  });

  test('is told every fault of its steps at once, each by its path', () => {
    const body = runBody([
      aStep('a', { with: { argv: [] } }),
      aStep('b', { kind: 'refinement', with: { ...refinementWith, task: '', id: 'x', tenant: 'other' } }),
    ]);
    expect(faults(body)).toEqual([
      expect.stringMatching(/^phases\[0\]\.steps\[0\]\.with\.argv: /),
      'phases[0].steps[1].with.id: must be left out: it is that of the run',
      'phases[0].steps[1].with.tenant: must be left out: it is that of the run',
      expect.stringMatching(/^phases\[0\]\.steps\[1\]\.with\.task: /),
    ]);
  });

  test('whose id leaves no room for the ids of its steps is refused', () => {
    const body = openRunSchema.parse(runBody([aStep('a', { kind: 'refinement' })]));
    const set = setUpRun(body, { ...identity, id: 'r'.repeat(118) }, stepSetUp);
    expect(set).toEqual({
      faults: [{ path: 'id', message: expect.stringContaining('too long for the work of its steps') }],
    });
  });

  test('has the preset phases, its own names, and the folder that it asked for', () => {
    const set = (more: Partial<OpenRunBody>) => {
      const set = setUpRun(openRunSchema.parse({ ...runBody([aStep('a')]), ...more }), identity, stepSetUp);
      if ('faults' in set) throw new Error(JSON.stringify(set.faults));
      return set.setup;
    };
    const phases = [{ steps: [aStep('a')] }, { name: 'own', steps: [aStep('b')] }, { steps: [aStep('c')] }];
    expect(set({ phases }).steps.map(({ phase }) => phase)).toEqual(['frame', 'own', 'build']);
    expect(set({}).workspace).toEqual({ from: 'nothing' });
    expect(set({ workspace: { path: '/a' } }).workspace).toEqual({ from: 'copy', path: '/a' });
    expect(set({ workspace: { repo: '/a' } }).workspace).toEqual({ from: 'repo', repo: '/a', branch: 'parley/run-1' });
    const own = { repo: '/a', branch: 'fix/124' };
    expect(set({ workspace: own }).workspace).toEqual({ from: 'repo', repo: '/a', branch: 'fix/124' });
  });
});
