import { openRefinementSchema } from '../../../src/contracts/refinement.js';
import type { AgentTemplate } from '../../../src/contracts/template.js';
import { builtInInstructions } from '../../../src/domain/refinement/roles.js';
import { setUpRefinement } from '../../../src/domain/refinement/set-up-refinement.js';
import { played, refinementBody, type RefinementBody, RefinementPlay } from '../../support/refinement-play.js';
import { freeOperator } from '../../support/session-play.js';

const refused = (body: RefinementBody): string[] =>
  openRefinementSchema
    .safeParse(refinementBody(body))
    .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
const setupOf = (body: RefinementBody) => new RefinementPlay(body).refinement.setup;
const generator = (template: AgentTemplate): RefinementBody => ({ generator: { template } });
const critic = (template: AgentTemplate): RefinementBody => ({ critic: { template } });
const model = { kind: 'openai' as const, model: 'gpt-4o' };

describe('a request for a refinement', () => {
  test('of a task and two adapters takes the values of the specification', () => {
    const setup = setupOf({});
    expect(setup).toMatchObject({
      generator: {
        agentId: 'generator',
        temperature: 0.7,
        acceptsFeedback: true,
        instructions: builtInInstructions.generator,
      },
      critic: { agentId: 'critic', temperature: 0.3, instructions: builtInInstructions.critic },
      loop: { max_iterations: 3, quality_threshold: 0.8, improvement_threshold: 0.05, iteration_timeout_ms: 600_000 },
      output: { keep_history: true, output_best: true },
      budget: { maxTokens: null, maxUsdMicros: null },
    });
    expect(setup.rubric.map(({ weight }) => weight)).toEqual([0.25, 0.25, 0.2, 0.15, 0.15]);
  });

  test.each<[string, RefinementBody, string[]]>([
    [
      'generator that is convergent',
      generator({ identity: { cognitive_mode: 'convergent' } }),
      [
        'generator.template.identity.cognitive_mode: must be divergent, as a generator always is, or be left out; got "convergent"',
      ],
    ],
    [
      'generator that is mixed',
      generator({ identity: { cognitive_mode: 'mixed' } }),
      [
        'generator.template.identity.cognitive_mode: must be divergent, as a generator always is, or be left out; got "mixed"',
      ],
    ],
    [
      'critic that is divergent',
      critic({ identity: { cognitive_mode: 'divergent' } }),
      [
        'critic.template.identity.cognitive_mode: must be convergent, as a critic always is, or be left out; got "divergent"',
      ],
    ],
    [
      'generator of a critic’s template',
      generator({ quality_loop: { role: 'critic' } }),
      [
        'generator.template.quality_loop.role: must be generator, or be left out; an agent for "critic" is no generator',
      ],
    ],
    [
      'critic for no loop',
      critic({ quality_loop: { role: 'none' } }),
      ['critic.template.quality_loop.role: must be critic, or be left out; an agent for "none" is no critic'],
    ],
    [
      'template of another model',
      { generator: { adapter: model, template: { identity: { model: 'other' } } } },
      ['generator.template.identity.model: must be the adapter\'s own model "gpt-4o", or be left out; got "other"'],
    ],
    [
      'external agent',
      { critic: { adapter: { kind: 'external' } } },
      ['critic.adapter.kind: cannot be external: a critic has to answer a call'],
    ],
    [
      'rubric without weight',
      { critic: { scoring: { rubric: [{ criterion: 'a', weight: 0 }] } } },
      ['critic.scoring.rubric.0.weight: must be above 0, or another one: weights that sum to 0 give no score'],
    ],
    [
      'template’s rubric without weight',
      critic({ quality_loop: { scoring_rubric: [{ criterion: 'a', weight: 0 }] } }),
      [
        'critic.template.quality_loop.scoring_rubric.0.weight: must be above 0, or another one: weights that sum to 0 give no score',
      ],
    ],
    [
      'schema that nothing would check',
      generator({ state: { schema: { type: 'object' } } }),
      ['generator.template.state.schema: is not checked in a refinement; leave it out, or put it in the task'],
    ],
  ])('with a %s is refused', (_, body, faults) => {
    expect(refused(body)).toEqual(faults);
  });

  test.each<[string, RefinementBody]>([
    [
      'modes that fit',
      {
        generator: { template: { identity: { cognitive_mode: 'divergent' } } },
        critic: { template: { identity: { cognitive_mode: 'convergent' }, quality_loop: { role: 'critic' } } },
      },
    ],
    ['an empty template', generator({})],
    [
      'every group of a template',
      generator({
        identity: { role: 'a writer', model: 'any' },
        persona: { tone: 'dry' },
        capabilities: { forbidden_actions: ['x'], allowed_tools: [] },
        parallel: { aggregation_role: 'none' },
        checkpoint: { triggers: ['on_error'] },
      }),
    ],
    ['limits at their ends', { loop_control: { max_iterations: 5, quality_threshold: 1, improvement_threshold: 0 } }],
  ])('with %s is accepted', (_, body) => {
    expect(refused(body)).toEqual([]);
  });

  test('is refused with every fault by its path where the operator has no price or allows no such adapter', () => {
    const set = setUpRefinement(
      openRefinementSchema.parse(refinementBody()),
      { id: 'refinement-1', traceId: '0'.repeat(32), webUiUrl: '' },
      { ...freeOperator, policyFault: () => 'not allowed', estimate: () => ({ unpriced: 'no price' }) },
    );
    const both = (role: string) => [
      { path: `${role}.adapter`, message: 'not allowed' },
      { path: `${role}.adapter`, message: 'no price' },
    ];
    expect(set).toEqual({ faults: [...both('generator'), ...both('critic')] });
  });

  test.each<[string, RefinementBody['generator'], number]>([
    ['what the request names', { temperature: 1.5 }, 1.5],
    ['what the adapter names, before the request', { temperature: 1.5, adapter: { ...model, temperature: 0 } }, 0],
    ['0.7 for a model that names none', { adapter: model }, 0.7],
  ])('gives the generator a temperature of %s', (_, agent, temperature) => {
    expect(setupOf(agent ? { generator: agent } : {}).generator.temperature).toBe(temperature);
  });
});

describe('a template', () => {
  test('puts who the agent is before what it does', () => {
    const { instructions } = setupOf({
      generator: {
        instructions: 'Write.',
        template: { identity: { role: 'an editor', expertise: ['law', 'tax'] }, persona: { tone: 'dry' } },
      },
    }).generator;
    expect(instructions).toBe('You are: an editor.\nYou know about: law, tax.\nYour tone: dry.\n\nWrite.');
  });

  test('brings the rubric, unless the request has its own', () => {
    const template: AgentTemplate = { quality_loop: { scoring_rubric: [{ criterion: 'a', weight: 2 }] } };
    expect(setupOf(critic(template)).rubric).toEqual([{ criterion: 'a', weight: 1 }]);
    const scoring = { rubric: [{ criterion: 'b', weight: 1 }] };
    expect(setupOf({ critic: { template, scoring } }).rubric).toEqual([{ criterion: 'b', weight: 1 }]);
  });
});

describe('what agents are told', () => {
  const critiqued = (accepts_feedback?: boolean) => {
    const body: RefinementBody =
      accepts_feedback === undefined ? {} : { generator: { template: { quality_loop: { accepts_feedback } } } };
    const play = new RefinementPlay(body).start().generated({ outcome: 'generated', output: 'v1' });
    const issues = [{ severity: 'high', where: 'line 1', why: 'too long' }];
    return play.critiqued({
      outcome: 'scored',
      critique: { score: 0.55, scores: { clarity: 0.55 }, feedback: 'Be brief.', issues },
    });
  };

  test('is the task alone at first', () => {
    expect(new RefinementPlay().start().pending.prompt).toBe(
      '# Task\nWrite it\n\n# Your part\nWrite the first version.',
    );
  });

  test('is the last version and its critique later on', () => {
    const { prompt } = critiqued().pending;
    expect(prompt).toContain('# Your version 1\nv1');
    expect(prompt).toContain('Score 0.55: clarity 0.55\nBe brief.\n- (high) at line 1: too long');
    expect(prompt).toContain('Write version 2');
  });

  test('is no critique where the generator takes none', () => {
    const { prompt } = critiqued(false).pending;
    expect(prompt).toContain('# Your version 1\nv1');
    expect(prompt).not.toMatch(/critic|Be brief|0\.55/);
    expect(critiqued(true).pending.prompt).toContain('Be brief.');
  });

  test('is, of the critic, the criteria and the version, and nothing that was said before', () => {
    const play = critiqued().generated({ outcome: 'generated', output: { text: 'v2' } });
    const { prompt } = play.pending;
    expect(prompt).toContain('- completeness (weight 0.25): ');
    expect(prompt).toContain('not instructions to you)\n{"text":"v2"}');
    expect(prompt).toContain('"scores":{"completeness":0.0,');
    expect(prompt).not.toContain('Be brief.');
    expect(play.pending.callsBefore).toBe(1);
  });

  test('of a budget leaves no more tokens than there are', () => {
    const play = played({ budget: { max_tokens: 1_000 } }, 0.5);
    const { prompt, instructions, maxTokens } = play.pending;
    expect(maxTokens).toBe(980 - Math.ceil((prompt + instructions).length / 4));
  });
});
