import { loadConfig } from '../../src/config.js';
import { openSessionSchema, type OpenSessionBody } from '../../src/contracts/session.js';
import type { Operator } from '../../src/domain/session/setup.js';
import { setUpSession } from '../../src/domain/session/set-up-session.js';
import { createOperator } from '../../src/operator.js';
import { aSession } from './rig.js';

const operatorOf = (environment: Record<string, string> = {}): Operator => createOperator(loadConfig(environment));
const setup = (over: Partial<OpenSessionBody>, operator = operatorOf()) =>
  setUpSession(openSessionSchema.parse(aSession(over)), { id: 's1', traceId: 't', webUiUrl: 'http://ui' }, operator);
const scripted = { kind: 'scripted' as const, script: [{ final: 'blue' }] };
const lane = { lane_id: 'b', adapter: scripted };

describe('a setup', () => {
  test('names clones b#1, b#2, and a single one b', () => {
    const { lanes } = setup({
      lanes: [
        { ...lane, clones: 2 },
        { ...lane, lane_id: 'c' },
      ],
    });
    expect(
      lanes.map(({ laneId, clone, personaId, diversitySeed }) => [laneId, clone, personaId, diversitySeed]),
    ).toEqual([
      ['b#1', 1, 'b', 1],
      ['b#2', 2, 'b', 2],
      ['c', 1, 'c', 1],
    ]);
  });

  test.each<[string, string | undefined, object | undefined, string | null]>([
    ['of its own', 'Doubt it.', undefined, 'Doubt it.'],
    ['of its template', undefined, { identity: { role: 'a lawyer' } }, 'You are: a lawyer.'],
    ['of both', 'Doubt it.', { persona: { tone: 'dry' } }, 'Your tone: dry.\n\nDoubt it.'],
    ['of an empty template', undefined, {}, null],
    ['of nothing', undefined, undefined, null],
  ])('instructs a persona by what is said %s', (_, instructions, template, told) => {
    const persona = { persona_id: 'p', ...(instructions && { instructions }), ...(template && { template }) };
    expect(setup({ lanes: [{ ...lane, persona }] }).lanes[0]?.instructions).toBe(told);
  });

  test('refuses what a template asks for and no lane has, of the lane that escalates too', () => {
    const persona = {
      persona_id: 'p',
      template: { state: { output_key: 'k' }, quality_loop: { role: 'critic' as const } },
    };
    const body = aSession({ lanes: [{ ...lane, persona }], policy: { escalation: { lane: { persona } } } });
    const paths = openSessionSchema.safeParse(body).error?.issues.map(({ path }) => path.join('.'));
    expect(paths).toEqual([
      'lanes.0.persona.template.state.output_key',
      'lanes.0.persona.template.quality_loop.role',
      'policy.escalation.lane.persona.template.state.output_key',
      'policy.escalation.lane.persona.template.quality_loop.role',
    ]);
  });

  test('has checkpoints after those ends of a lane that its template names', () => {
    const persona = { persona_id: 'p', template: { checkpoint: { triggers: ['on_error' as const] } } };
    expect(setup({ lanes: [{ ...lane, persona }] }).lanes[0]?.checkpointTriggers).toEqual(['on_error']);
  });

  test('weighs persona 2 x gold 3, and leaves the reputation to the time when memory is asked', () => {
    const policy = { tier_weights: { gold: 3 }, elo_weights: true };
    expect(setup({ lanes: [{ ...lane, tier: 'gold', weight: 2 }], policy }).lanes[0]?.weight).toBe(6);
  });

  test('narrows the operator’s window, never widens it', () => {
    const operator = operatorOf({ PARLEY_WINDOW: '{"max_parallel":4,"max_tokens":100}' });
    const { window } = setup({ policy: { window: { max_parallel: 9, max_tokens: 50, max_usd_micros: -5 } } }, operator);
    expect(window).toEqual({ maxParallel: 4, maxTokens: 50, maxUsdMicros: 0 });
    expect(setup({}).window).toEqual({ maxParallel: null, maxTokens: null, maxUsdMicros: null });
  });

  test('keeps money in millionths of a dollar', () => {
    expect(setup({ budget: { max_usd: 0.1, max_tokens: 5 } }).budget).toEqual({ maxTokens: 5, maxUsdMicros: 100_000 });
    expect(setup({}).budget).toEqual({ maxTokens: null, maxUsdMicros: null });
  });

  test('refuses an adapter without a price, naming PARLEY_PRICES, and never takes it for free', () => {
    const adapter = { kind: 'openai-compatible' as const, provider: 'mine', model: 'unheard-of' };
    expect(setup({ lanes: [{ ...lane, adapter }] }).lanes[0]?.faults).toEqual([
      { code: 'EBUDGET', message: expect.stringMatching(/^no price is known for mine\/unheard-of.*PARLEY_PRICES/) },
    ]);
    const operator = operatorOf({ PARLEY_PRICES: '{"mine/*":{"input":1,"output":2}}' });
    const [priced] = setup({ prompt: 'x'.repeat(400), lanes: [{ ...lane, adapter, tier: 'silver' }] }, operator).lanes;
    // 100 tokens in at 1 USD and 768 out (512 + one deviation of 256) at 2 USD for a million.
    expect(priced).toMatchObject({ faults: [], estimate: { tokens: 868, usdMicros: 1636 } });
  });

  test.each<['gold' | 'silver' | 'bronze', number]>([
    ['gold', 1 + 1024],
    ['silver', 1 + 768],
    ['bronze', 1 + 640],
  ])('guards the estimate of a %s lane: %i tokens', (tier, tokens) => {
    const operator = operatorOf({ PARLEY_PRICES: '{"openai/m":{"input":0,"output":0}}' });
    const adapter = { kind: 'openai' as const, model: 'm' };
    expect(setup({ prompt: 'four', lanes: [{ ...lane, adapter, tier }] }, operator).lanes[0]?.estimate.tokens).toBe(
      tokens,
    );
  });

  test.each<[string, object, string | null]>([
    ['nothing', {}, null],
    ['adapters', { adapters: ['openai'] }, 'the operator allows acme the adapters openai; got scripted'],
    ['tiers', { tiers: ['bronze'] }, 'the operator allows acme the tiers bronze; got silver'],
    [
      'both',
      { adapters: [], tiers: ['gold'] },
      'the operator allows acme no adapter; got scripted; the operator allows acme the tiers gold; got silver',
    ],
  ])('of a tenant limited in %s says every refusal', (_, allowance, fault) => {
    const operator = operatorOf({ PARLEY_POLICY: JSON.stringify({ tenants: { acme: allowance } }) });
    const expected = fault === null ? [] : [{ code: 'ESEC', message: fault }];
    expect(setup({ tenant: 'acme' }, operator).lanes[0]?.faults).toEqual(expected);
    expect(setup({ tenant: 'other' }, operator).lanes[0]?.faults).toEqual([]);
  });

  test('calls judge, arbiter, merge and escalation only where the policy does', () => {
    expect(setup({})).toMatchObject({ judge: null, arbiter: null, merge: null, escalation: null });
    const policy = {
      agreement: { method: 'judge' as const, adapter: scripted },
      arbiter: { allowed: true, adapter: scripted },
      merge: { adapter: scripted },
      escalation: { allowed: true, lane: { adapter: scripted } },
    };
    expect(setup({ policy })).toMatchObject({
      judge: { adapterName: 'scripted' },
      arbiter: { adapterName: 'scripted' },
      merge: { adapterName: 'scripted' },
      escalation: { laneId: 'escalation', tier: 'gold' },
    });
  });

  test.each<[string, OpenSessionBody['lanes'][number]['adapter']]>([
    ['command grep', { kind: 'command', argv: ['/usr/bin/grep', 'secret'] }],
    ['http agents.example:8080', { kind: 'http', url: 'https://agents.example:8080/x?token=secret' }],
    ['anthropic m', { kind: 'anthropic', model: 'm' }],
    ['external', { kind: 'external' }],
  ])('calls an adapter %s, and shows no secret of it', (name, adapter) => {
    expect(setup({ lanes: [{ ...lane, adapter }] }).lanes[0]?.adapterName).toBe(name);
  });
});
