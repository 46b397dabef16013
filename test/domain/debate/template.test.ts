import { openDebateSchema } from '../../../src/contracts/debate.js';
import type { AgentTemplate } from '../../../src/contracts/template.js';
import { builtInInstructions } from '../../../src/domain/debate/roles.js';
import { debateTurns } from '../../../src/domain/debate/turns.js';
import { answer, type DebateBody, debateBody, DebatePlay, failed } from '../../support/debate-play.js';

const critic = (template: AgentTemplate, more: object = {}): DebateBody => ({
  roles: { critic: { persona: { template, ...more } } },
});
const faultsOf = (body: DebateBody): string[] =>
  openDebateSchema
    .safeParse(debateBody(body))
    .error?.issues.map(({ path, message }) => `${path.slice(4).join('.')} ${message}`) ?? [];

describe('the template of a role', () => {
  test('stands before its instructions, built-in or its own', () => {
    const template = { identity: { role: 'a database expert', expertise: ['locks'] }, persona: { tone: 'dry' } };
    const shape = 'You are: a database expert.\nYou know about: locks.\nYour tone: dry.\n\n';
    const instructionsOf = (body: DebateBody) => new DebatePlay(body).debate.setup.roles.critic.instructions;
    expect(instructionsOf(critic(template))).toBe(shape + builtInInstructions.critic);
    expect(instructionsOf(critic(template, { instructions: 'Doubt it.' }))).toBe(`${shape}Doubt it.`);
    expect(instructionsOf(critic({}))).toBe(builtInInstructions.critic);
  });

  test.each<[string, AgentTemplate, string]>([
    ['another model', { identity: { model: 'gpt-9' } }, 'identity.model must be the adapter\'s own model "gpt-4o"'],
    ['tools', { capabilities: { allowed_tools: ['read'] } }, 'capabilities.allowed_tools would be enforced by nobody'],
    ['a schema', { state: { schema: { type: 'object' } } }, 'state.schema is not checked in a debate'],
    ['a key', { state: { output_key: 'a' } }, 'state.output_key has no use in a debate'],
    ['a namespace', { parallel: { output_namespace: 'a' } }, 'parallel.output_namespace a debate has no namespaces'],
    ['a fan-in', { parallel: { aggregation_role: 'producer' } }, 'parallel.aggregation_role must be none'],
    ['a loop', { quality_loop: { role: 'critic' } }, 'quality_loop.role must be none, or be left out'],
    [
      'a rubric',
      { quality_loop: { scoring_rubric: [{ criterion: 'a', weight: 1 }] } },
      'quality_loop.scoring_rubric is scored by nobody in a debate',
    ],
    [
      'no feedback',
      { quality_loop: { accepts_feedback: false } },
      'quality_loop.accepts_feedback has no effect in a debate',
    ],
  ])('that asks for %s, which no role has, is refused', (_, template, fault) => {
    const adapter = { kind: 'openai' as const, model: 'gpt-4o' };
    const faults = faultsOf({ roles: { critic: { adapter, persona: { template } } } });
    expect(faults).toEqual([expect.stringContaining(fault)]);
  });

  test.each<[string, 'on_complete' | 'on_error', number, number]>([
    ['its answers', 'on_complete', 1, 0],
    ['its failures', 'on_error', 0, 1],
  ])('can have checkpoints after %s alone', (_, trigger, answered, broken) => {
    const body = { roles: { analyst: { persona: { template: { checkpoint: { triggers: [trigger] } } } } } };
    const turnsAfter = (outcome: ReturnType<typeof answer>): number => {
      const { debate, ask } = new DebatePlay(body).open();
      const after = new DebatePlay(body).open().reply(outcome);
      const event = { type: 'ANSWER' as const, id: ask.id, outcome, usage: { tokens: 1, usdMicros: 0 } };
      return debateTurns(debate, after.debate, event).length;
    };
    expect([turnsAfter(answer()), turnsAfter(failed())]).toEqual([answered, broken]);
  });
});
