import type { GivenFeedback } from '../../src/contracts/feedback.js';
import type { Json } from '../../src/contracts/frames.js';
import type { TeamDurableEvent } from '../../src/contracts/team-events.js';
import { type TeamAgentBody, teamAgentSchema } from '../../src/contracts/team.js';
import type { AgentStateName } from '../../src/contracts/team-status.js';
import type { CallAnswer, TeamCall, TeamEffect, TeamEvent } from '../../src/domain/team/effects.js';
import type { TurnOutcome } from '../../src/domain/team/outcome.js';
import type { PatternAnswer } from '../../src/contracts/team-status.js';
import type { PatternKind } from '../../src/domain/team/pattern-state.js';
import { openRequest } from '../../src/domain/team/permissions.js';
import { type AgentPlan, planOf, type TeamSetup } from '../../src/domain/team/setup.js';
import { type AgentRecord, agentOf, openTeamState, type TeamState } from '../../src/domain/team/state.js';
import { stepTeam } from '../../src/domain/team/team.js';
import { waitAnswer } from '../../src/domain/team/view.js';
import { nextDue } from '../../src/domain/team/waits.js';
import { deepFreeze } from './deep-freeze.js';
import { given as anAnswer } from './given.js';
import { oneOfAnybody } from './approval-terms.js';

type Body = Partial<TeamAgentBody>;

const adapter = { kind: 'scripted' as const, script: [{ final: 'done' }] };

/** An agent that is asked for something, unless `prompt` is undefined. */
export const plan = (agentId: string, over: Body = {}): AgentPlan =>
  planOf(teamAgentSchema.parse({ agent_id: agentId, adapter, prompt: `do ${agentId}`, ...over }));
export const idle = (agentId: string, over: Body = {}): AgentPlan => ({ ...plan(agentId, over), prompt: null });

export const teamSetup = (over: Partial<TeamSetup> = {}): TeamSetup => ({
  id: 'team-1',
  tenant: 'default',
  labels: {},
  traceId: '0'.repeat(32),
  webUiUrl: 'http://ui',
  maxConcurrent: 10,
  keepOpen: true,
  subagentsEnabled: true,
  backgroundAllowed: true,
  windowTokens: null,
  explorer: null,
  agents: [],
  liteAgents: [],
  budget: { maxTokens: null, maxUsdMicros: null },
  approval: oneOfAnybody,
  ...over,
});

type DataOf = { [E in TeamDurableEvent as E['event']]: E['data'] };
type EffectOf = { [E in TeamEffect as E['type']]: E };

/** A team played by hand: time is a number that only the test moves, and every agent says what the test makes it say. */
export class TeamPlay {
  team: TeamState;
  effects: TeamEffect[] = [];
  events: TeamDurableEvent[] = [];
  answer: CallAnswer | null = null;
  /** What waits were answered, as they were then. */
  waits = new Map<string, ReturnType<typeof waitAnswer>>();
  patterns = new Map<string, PatternAnswer>();
  /** Epoch milliseconds; 2026-11-21T00:00:00Z at the start. */
  now = Date.UTC(2026, 10, 21);

  constructor(agents: readonly AgentPlan[] = [], setup: Partial<TeamSetup> = {}) {
    this.team = deepFreeze(openTeamState(teamSetup({ agents: [...agents], ...setup }), this.now));
    this.take({ type: 'START' });
  }

  take(event: TeamEvent): this {
    const step = stepTeam(this.team, deepFreeze(event), this.now);
    this.team = deepFreeze(step.team);
    this.effects.push(...step.effects);
    this.events.push(...step.events);
    this.answer = step.answer;
    for (const effect of step.effects) {
      if (effect.type === 'answer_wait') this.waits.set(effect.waitId, waitAnswer(this.team, effect.answer));
    }
    for (const { event, data } of step.events) {
      if (event !== 'pattern') continue;
      const { at: _, pattern_id: patternId, ...answer } = data;
      this.patterns.set(patternId, answer);
    }
    return this;
  }

  /** What a call is answered: `ok`, or why it is refused. */
  call(call: TeamCall, by: string | null = null): string {
    this.take({ type: 'CALL', by, call });
    return this.said;
  }

  get said(): string {
    return this.answer === null ? '' : this.answer.ok ? 'ok' : this.answer.message;
  }

  spawn(...agents: AgentPlan[]): string {
    return this.call({ type: 'SPAWN', agents });
  }

  to(
    type: 'PAUSE_AGENT' | 'RESUME_AGENT' | 'CANCEL_AGENT' | 'STOP_AGENT' | 'CLEAN_UP',
    agentId: string,
    by: string | null = null,
  ) {
    return this.call({ type, agentId }, by);
  }

  wait(waitId: string, ids: string[] | null = null, timeoutMs: number | null = null, by: string | null = null): string {
    return this.call({ type: 'WAIT', waitId, ids, timeoutMs }, by);
  }

  delegate(
    parent: string,
    child: string,
    over: Partial<Extract<TeamCall, { type: 'DELEGATE' }>> = {},
    by: string | null = parent,
  ): string {
    return this.call(
      {
        type: 'DELEGATE',
        parent: null,
        child,
        content: `for ${parent}`,
        background: true,
        waitId: null,
        timeoutMs: null,
        ...over,
      },
      by,
    );
  }

  pattern(patternId: string, pattern: PatternKind): this {
    this.call({ type: 'PATTERN', patternId, pattern });
    return this;
  }

  /** An agent's turn comes back. */
  ends(
    agentId: string,
    outcome: TurnOutcome | Json = 'done',
    over: { run?: number; text?: string; tokens?: number } = {},
  ): this {
    const isOutcome = typeof outcome === 'object' && outcome !== null && 'type' in outcome;
    const run = over.run ?? this.agent(agentId).turn?.run ?? 0;
    return this.take({
      type: 'ENDED',
      agentId,
      run,
      outcome: isOutcome ? (outcome as TurnOutcome) : { type: 'returned', value: outcome as Json },
      text: over.text ?? null,
      usage: { tokens: over.tokens ?? 0, usdMicros: 0 },
    });
  }

  fails(agentId: string, message = 'it broke'): this {
    return this.ends(agentId, { type: 'thrown', code: 'EAGENTDOWN', message });
  }

  after(ms: number): this {
    this.now += ms;
    return this.take({ type: 'TICK' });
  }

  /** Time passes until something is due. */
  untilDue(): this {
    return this.after((nextDue(this.team) ?? this.now) - this.now);
  }

  agent(agentId: string): AgentRecord {
    const agent = agentOf(this.team, agentId);
    if (!agent) throw new Error(`no agent ${agentId}`);
    return agent;
  }

  state(agentId: string): AgentStateName {
    return this.agent(agentId).state;
  }

  /** All agents by their state, in the order of the team. */
  get states(): string {
    return this.team.agents.map(({ plan: { agentId }, state }) => `${agentId} ${state}`).join(', ');
  }

  done<T extends TeamEffect['type']>(type: T): EffectOf[T][] {
    return this.effects.filter((effect): effect is EffectOf[T] => effect.type === type);
  }

  told<E extends TeamDurableEvent['event']>(event: E): DataOf[E][] {
    return this.events.filter((other) => other.event === event).map(({ data }) => data as DataOf[E]);
  }
}

/** Who has been told to call now, and has not said what it used. */
export const calling = (play: TeamPlay, from = 0): string[] =>
  play.effects
    .slice(from)
    .flatMap((effect) =>
      (effect.type === 'run_turn' && 'view' in effect.asked) || (effect.type === 'answer_read' && 'view' in effect.read)
        ? [effect.agentId]
        : [],
    );

/** What a person answers to the open request; without one, to the latest. */
export const given = ({ team }: TeamPlay, response: string, over: Partial<GivenFeedback> = {}): GivenFeedback =>
  anAnswer(response, { request_id: (openRequest(team) ?? team.feedback.at(-1))?.request.request_id ?? '', ...over });
export const answers = (play: TeamPlay, response: string, over: Partial<GivenFeedback> = {}): TeamPlay =>
  play.take({ type: 'FEEDBACK', given: given(play, response, over) });
