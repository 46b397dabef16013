import { openDebateSchema } from '../../../src/contracts/debate.js';
import { builtInInstructions, roleOrder } from '../../../src/domain/debate/roles.js';
import { setUpDebate, type DebateIdentity } from '../../../src/domain/debate/set-up-debate.js';
import type { Operator } from '../../../src/domain/session/setup.js';
import { debateBody, type DebateBody } from '../../support/debate-play.js';
import { freeOperator } from '../../support/session-play.js';

const identity: DebateIdentity = {
  id: 'debate-1',
  traceId: '0'.repeat(32),
  webUiUrl: 'http://ui',
  startedBy: 'anna',
  requiresAuthentication: true,
};
const setUp = (body: DebateBody, operator: Partial<Operator> = {}) =>
  setUpDebate(openDebateSchema.parse(debateBody(body)), identity, { ...freeOperator, ...operator });
const faultsOf = (body: DebateBody, operator: Partial<Operator> = {}): string[] => {
  const set = setUp(body, operator);
  return 'faults' in set ? set.faults.map(({ path, message }) => `${path}: ${message}`) : [];
};
const refused = (body: unknown): string[] =>
  openDebateSchema.safeParse(body).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

describe('a request for a debate', () => {
  test('of the wire specification is accepted as it is written, and takes the values it shows', () => {
    const adapter = { kind: 'scripted', script: [{ final: '{}' }] };
    const example = {
      task: 'Add an index to orders',
      workspace: { path: '/srv/shop', locks: { project: 'p', database: 'd' } },
      roles: Object.fromEntries(roleOrder.map((role) => [role, { adapter }])),
      limits: { refinements: 3, max_repairs: 2, proceed: 0.6, refine_below: 0.8, veto: 0.9 },
      sandbox: { backend: 'auto', network: false },
      approval: { required: false, timeout_ms: 86_400_000 },
      plan: null,
    };
    const full = openDebateSchema.parse(example);
    const { limits: _limits, sandbox: _sandbox, approval: _approval, plan: _plan, ...short } = example;
    expect(openDebateSchema.parse(short)).toEqual(full);
    expect(full).toMatchObject({ ...example, roles: {}, tenant: 'default', budget: { max_tokens: 100_000 } });
    expect(full.limits).toMatchObject({ top_k: 5, answer_timeout_ms: 120_000 });
    expect(refused({ ...example, workspace: { path: '/srv', locks: { project: ['p', 'q'] } } })).toEqual([]);
  });

  const body = debateBody();
  const { critic: _, ...four } = body.roles;
  test.each<[string, unknown, string[]]>([
    ['no task', { ...body, task: '  ' }, ['task: must say what is to be done']],
    [
      'a relative path',
      { ...body, workspace: { path: 'shop' } },
      ['workspace.path: must be an absolute path on the worker'],
    ],
    ['four roles', { ...body, roles: four }, ['roles.critic: Invalid input: expected object, received undefined']],
    [
      'an external role',
      debateBody({ roles: { critic: { adapter: { kind: 'external' } } } }),
      ['roles.critic.adapter.kind: cannot be external: a role has to answer a call'],
    ],
    [
      'proceed above refine_below',
      debateBody({ limits: { proceed: 0.9 } }),
      ['limits.proceed: must be at most limits.refine_below (0.8), or no pass could improve what is rejected; got 0.9'],
    ],
    [
      'more than three refinements',
      debateBody({ limits: { refinements: 4 } }),
      ['limits.refinements: Too big: expected number to be <=3'],
    ],
    [
      'k above the number of approvers',
      debateBody({ approval: { k: 3, approvers: ['anna', 'ben'] } }),
      ['approval.k: must be at most the number of different approvers: 2; got 3'],
    ],
    [
      'an escalation to nobody',
      debateBody({ approval: { escalate_after_ms: 5 } }),
      ['approval.escalate_to: is missing: say who else is asked then'],
    ],
    [
      'an escalation after the end',
      debateBody({ approval: { timeout_ms: 5, escalate_after_ms: 5, escalate_to: ['ben'] } }),
      ['approval.escalate_after_ms: must be below the timeout of 5 ms; got 5'],
    ],
    [
      'an empty plan',
      debateBody({ plan: { tasks: [] } }),
      ['plan.tasks: must have at least one task; leave plan out, or null, to let the solution role propose one'],
    ],
    [
      'a plan that goes round in a circle, and a task twice',
      debateBody({
        plan: {
          tasks: [
            { task_id: 'a', argv: ['x'], depends_on: ['b'] },
            { task_id: 'b', argv: ['x'], depends_on: ['a'] },
            { task_id: 'b', argv: ['x'] },
          ],
        },
      }),
      [
        'plan.tasks.2.task_id: "b" is taken by tasks[1]',
        'plan.tasks.0.depends_on: is a circle, so that none of it can run first: "a" -> "b" -> "a"; leave one of these out',
      ],
    ],
    [
      'several contradictions at once',
      debateBody({
        limits: { proceed: 1 },
        approval: { k: 2, approvers: ['anna'] },
        plan: { tasks: [{ task_id: 'a', argv: ['x'], depends_on: ['z'] }] },
      }),
      [
        'limits.proceed: must be at most limits.refine_below (0.8), or no pass could improve what is rejected; got 1',
        'approval.k: must be at most the number of different approvers: 1; got 2',
        'plan.tasks.0.depends_on.0: "z" is no task of the plan; it has "a"',
      ],
    ],
  ])('with %s is refused in words', (_name, given, expected) => {
    expect(refused(given)).toEqual(expected);
  });

  test('with proceed at refine_below is fine', () => {
    expect(refused(debateBody({ limits: { proceed: 0.8 } }))).toEqual([]);
  });
});

describe('setting a debate up', () => {
  test('gives each role its persona and built-in instructions, unless the request has its own', () => {
    const persona = { persona_id: 'ada', instructions: 'Be brief.' };
    const set = setUp({ roles: { critic: { persona }, security: { persona: { persona_id: 'eve' } } } });
    if (!('setup' in set)) throw new Error('refused');
    const { analyst, critic, security } = set.setup.roles;
    expect([analyst.personaId, analyst.instructions]).toEqual(['analyst', builtInInstructions.analyst]);
    expect([critic.personaId, critic.instructions]).toEqual(['ada', 'Be brief.']);
    expect([security.personaId, security.instructions]).toEqual(['eve', builtInInstructions.security]);
  });

  test('refuses every role whose adapter is not allowed or has no price, each by its path', () => {
    const script = { kind: 'scripted' as const, script: [{ final: 'x' }] };
    const model = { kind: 'openai' as const, model: 'new' };
    const operator: Partial<Operator> = {
      policyFault: (_tenant, { kind }) => (kind === 'openai' ? 'the operator allows default no openai' : null),
      estimate: ({ kind }) =>
        kind === 'openai' ? { unpriced: 'no price is known for new' } : { tokens: 1, usdMicros: 0 },
    };
    const faults = faultsOf(
      { roles: { analyst: { adapter: script }, critic: { adapter: model }, security: { adapter: model } } },
      operator,
    );
    expect(faults).toEqual([
      'roles.critic.adapter: the operator allows default no openai',
      'roles.critic.adapter: no price is known for new',
      'roles.security.adapter: the operator allows default no openai',
      'roles.security.adapter: no price is known for new',
    ]);
  });

  test('asks the operator about no tier: who may use bronze alone may debate', () => {
    expect(faultsOf({}, { policyFault: (_tenant, _adapter, tier) => (tier === 'bronze' ? null : 'no') })).toEqual([]);
  });

  test('refuses a gate that nobody could open, as the one who started it does not count', () => {
    expect(faultsOf({ approval: { required: true, approvers: ['anna'] } })).toEqual([
      'approval.k: must be at most the number of different approvers, not counting anna, who started the work: 0; got 1',
    ]);
    expect(faultsOf({ approval: { required: false, approvers: ['anna'] } })).toEqual([]);
  });

  test('keeps everything that a replay needs, as plain JSON', () => {
    const set = setUp({ labels: { team: 'a' }, budget: { max_usd: 0.25 } });
    if (!('setup' in set)) throw new Error('refused');
    expect(JSON.parse(JSON.stringify(set.setup))).toEqual(set.setup);
    expect(set.setup).toMatchObject({
      startedBy: 'anna',
      requiresAuthentication: true,
      plan: { tasks: [] },
      budget: { maxTokens: 100_000, maxUsdMicros: 250_000 },
    } satisfies Partial<typeof set.setup>);
  });
});
