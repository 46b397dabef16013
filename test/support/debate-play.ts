import type { OpenDebateBody, Role } from '../../src/contracts/debate.js';
import { openDebateSchema } from '../../src/contracts/debate.js';
import { scanPlan } from '../../src/domain/security-rules/index.js';
import type { DebateDurableEvent } from '../../src/contracts/debate-events.js';
import type { CommandReport, TaskReport } from '../../src/contracts/execution.js';
import type { GivenFeedback } from '../../src/contracts/feedback.js';
import type { MemoryContext } from '../../src/contracts/memory.js';
import { planSchema, type Plan } from '../../src/contracts/plan.js';
import { nextDue, stepDebate } from '../../src/domain/debate/debate.js';
import type { AskOutcome, DebateEffect, DebateEvent } from '../../src/domain/debate/effects.js';
import { setUpDebate, type DebateIdentity } from '../../src/domain/debate/set-up-debate.js';
import type { RoleAnswer } from '../../src/domain/debate/statement.js';
import { openDebateState, type DebateState } from '../../src/domain/debate/state.js';
import type { Amount, Operator } from '../../src/domain/session/setup.js';
import { given } from './given.js';
import { freeOperator } from './session-play.js';
import { start, WorkPlay } from './work-play.js';

type RoleBody = Partial<OpenDebateBody['roles']['analyst']>;
export type DebateBody = Omit<Partial<OpenDebateBody>, 'roles' | 'plan'> & {
  roles?: Partial<Record<Role, RoleBody>>;
  /** As a request writes it; `plan('a', 'b')` makes one. */
  plan?: OpenDebateBody['plan'];
};

const adapter = { kind: 'scripted' as const, script: [{ final: '{}' }] };
const allRoles = ['analyst', 'solution', 'critic', 'security', 'optimizer'] as const;

/** A whole request with the five roles, all scripted. */
export const debateBody = (body: DebateBody = {}): OpenDebateBody => ({
  task: 'Add an index to orders',
  workspace: { path: '/srv/project' },
  ...body,
  roles: Object.fromEntries(
    allRoles.map((role) => [role, { adapter, ...body.roles?.[role] }]),
  ) as OpenDebateBody['roles'],
});

/** Tasks by their ids, one after the other as listed; each runs `do <id>` and is undone by `undo <id>`. */
export const plan = (...ids: string[]): Plan =>
  planSchema.parse({
    tasks: ids.map((id) => ({ task_id: id, argv: ['do', id], undo: { argv: ['undo', id] } })),
  });

/** What a role says; for the plan with confidence 0.9 unless told otherwise. */
export const answer = (said: Partial<RoleAnswer> = {}): AskOutcome => ({
  outcome: 'statement',
  answer: { stance: 'for', confidence: 0.9, position: '', issues: [], changes: [], plan: null, ...said },
  findings: [],
});
export const unreadable = (...faults: string[]): AskOutcome => ({ outcome: 'unreadable', faults });
export const failed = (code = 'EAGENTDOWN', message = 'gone'): AskOutcome => ({ outcome: 'failed', code, message });

const emptyContext: MemoryContext = { ratings: {}, similar: [], recent: [] };

type Awaited = Extract<DebateEffect, { id: number }>;
/** A debate played by hand. */
export class DebatePlay extends WorkPlay<DebateState, DebateEvent, DebateEffect, DebateDurableEvent> {
  readonly startedAt = start;

  constructor(body: DebateBody = {}, operator: Partial<Operator> = {}, identity: Partial<DebateIdentity> = {}) {
    const set = setUpDebate(
      openDebateSchema.parse(debateBody(body)),
      {
        id: 'debate-1',
        traceId: '0'.repeat(32),
        webUiUrl: 'http://ui',
        startedBy: null,
        requiresAuthentication: false,
        ...identity,
      },
      { ...freeOperator, ...operator },
    );
    if ('faults' in set) throw new Error(JSON.stringify(set.faults));
    super(openDebateState(set.setup, start));
  }

  get debate(): DebateState {
    return this.work;
  }
  protected step(event: DebateEvent) {
    const { debate: work, effects, events } = stepDebate(this.work, event, this.now);
    return { work, effects, events };
  }
  protected due(): number | null {
    return nextDue(this.work);
  }

  /** What is under way. */
  get pending(): Awaited {
    if (!this.debate.pending) throw new Error(`nothing is under way in ${this.state}`);
    return this.debate.pending;
  }
  private pendingOf<T extends Awaited['type']>(type: T): Extract<Awaited, { type: T }> {
    const { pending } = this;
    if (pending.type !== type) throw new Error(`${pending.type} is under way in ${this.state}, not ${type}`);
    return pending as Extract<Awaited, { type: T }>;
  }
  get ask(): Extract<Awaited, { type: 'ask' }> {
    return this.pendingOf('ask');
  }
  get task(): Extract<Awaited, { type: 'run_task' }> {
    return this.pendingOf('run_task');
  }

  /** Identity and context are fine: the analyst is asked. */
  open(context: Partial<MemoryContext> = {}): this {
    this.take({ type: 'START' });
    this.identity();
    return this.context(context);
  }
  identity(...faults: { code: string; message: string }[]): this {
    const { id, workspace, plan: given, check } = this.pendingOf('verify_identity');
    return this.take({ type: 'IDENTITY', id, workspace, faults, findings: scanPlan(given, workspace, { check }) });
  }
  context(context: Partial<MemoryContext> = {}, error: string | null = null): this {
    const { id } = this.pendingOf('load_context');
    return this.take({ type: 'CONTEXT', id, context: { ...emptyContext, ...context }, error });
  }
  /** The call under way ends. */
  reply(outcome: AskOutcome = answer(), usage: Amount = { tokens: 10, usdMicros: 0 }): this {
    return this.take({ type: 'ANSWER', id: this.ask.id, outcome: this.scanned(outcome), usage });
  }
  /** As a worker hands it on: with what the static rules find in the plan that it brings. */
  private scanned(outcome: AskOutcome): AskOutcome {
    const { workspace, setup } = this.debate;
    const scan = (of: Plan) => scanPlan(of, workspace ?? setup.workspace.path, { check: setup.healing?.check });
    if (outcome.outcome === 'repair') return { ...outcome, findings: scan(outcome.plan) };
    if (outcome.outcome !== 'statement' || outcome.answer.plan === null) return outcome;
    return { ...outcome, findings: scan(outcome.answer.plan) };
  }
  /** The roles of this pass answer, each for the plan unless told otherwise; the solution with a plan when it has none. */
  pass(said: Partial<Record<Role, AskOutcome | Partial<RoleAnswer>>> = {}, usage?: Amount): this {
    const { pass } = this.debate;
    for (const role of allRoles) {
      if (this.debate.pass !== pass || this.debate.pending?.type !== 'ask' || this.debate.pending.role !== role)
        continue;
      const own = said[role] ?? {};
      const preset = role === 'solution' && this.debate.planFromPass === null ? { plan: plan('t1') } : {};
      this.reply('outcome' in own ? own : answer({ ...preset, ...own }), usage);
    }
    return this;
  }
  snapshot(): this {
    return this.take({ type: 'SNAPSHOT', id: this.pendingOf('take_snapshot').id, snapshot: 's1', digest: 'before' });
  }
  /** The task under way ends, by default well. */
  ends(outcome: TaskReport['outcome'] = 'succeeded', more: Partial<TaskReport> = {}): this {
    const { id, task, round } = this.task;
    return this.take({ type: 'TASK', id, report: report(task.task_id, outcome, { round, argv: task.argv, ...more }) });
  }
  /** Every task of the round succeeds. */
  run(): this {
    while (this.debate.pending?.type === 'run_task') this.ends();
    return this;
  }
  get check(): Extract<Awaited, { type: 'check_health' }> {
    return this.pendingOf('check_health');
  }
  /** The health check ends. */
  checked(outcome: 'succeeded' | 'failed' = 'succeeded', command: CommandReport | null = null): this {
    const reason = outcome === 'succeeded' ? null : 'It exited with 1 instead of 0.';
    return this.take({ type: 'HEALTH', id: this.check.id, ended: { outcome, reason, command } });
  }
  undo(outcome: 'succeeded' | 'failed' = 'succeeded', reason: string | null = null): this {
    const { id, task } = this.pendingOf('undo_task');
    return this.take({ type: 'UNDONE', id, undone: { task_id: task.task_id, outcome, reason, command: null } });
  }
  restore(digest = 'before', manual: string[] = []): this {
    return this.take({ type: 'RESTORED', id: this.pendingOf('restore_snapshot').id, digest, manual });
  }
  /** Everything that was done is taken back. */
  rollBack(): this {
    while (this.debate.pending?.type === 'undo_task') this.undo();
    return this.restore();
  }
  diagnose(diagnosis: string | null = 'the table is missing'): this {
    return this.reply({ outcome: 'diagnosis', diagnosis });
  }
  repair(repaired: Plan): this {
    return this.reply({ outcome: 'repair', plan: repaired, findings: [] });
  }
  /** Memory and audit are written. */
  close(): this {
    this.take({ type: 'STORED', id: this.pendingOf('store_trace').id });
    this.take({ type: 'MIRRORED', id: this.pendingOf('mirror_trace').id, mongo: false, error: null });
    return this.audited();
  }
  get audit(): Extract<Awaited, { type: 'audit' }> {
    return this.pendingOf('audit');
  }
  audited(): this {
    return this.take({ type: 'AUDITED', id: this.audit.id, seq: 7, hash: 'f'.repeat(64) });
  }
  fault(code = 'unavailable', message = 'it is not there'): this {
    return this.take({ type: 'FAULT', id: this.pending.id, code, message });
  }
  feedback(response: string, more: Partial<GivenFeedback> = {}): this {
    const request_id = this.debate.approvals.at(-1)?.request.request_id ?? 'fr-20261121-000000';
    return this.take({ type: 'FEEDBACK', given: given(response, { request_id, ...more }) });
  }
  cancel = (): this => this.take({ type: 'CANCEL' });

  /** What was asked to be done, in order, with what tells it from its like. */
  get done(): string[] {
    return this.effects.map((effect) => {
      switch (effect.type) {
        case 'ask':
          return `${effect.purpose === 'statement' ? 'ask' : effect.purpose} ${effect.role}${effect.attempt === 2 ? ' again' : ''}`;
        case 'run_task':
        case 'undo_task':
          return `${effect.type === 'run_task' ? 'run' : 'undo'} ${effect.task.task_id}`;
        default:
          return effect.type;
      }
    });
  }
  said(role: Role): DebateState['statements'][number] {
    const statement = this.debate.statements.findLast((candidate) => candidate.role === role);
    if (!statement) throw new Error(`${role} has said nothing`);
    return statement;
  }
}

export const report = (taskId: string, outcome: TaskReport['outcome'], more: Partial<TaskReport> = {}): TaskReport => ({
  task_id: taskId,
  argv: ['do', taskId],
  outcome,
  reason: outcome === 'succeeded' ? null : 'exit code 1',
  command: null,
  files_changed: [],
  files_changed_count: 0,
  unmet: [],
  attempt: 1,
  round: 0,
  ...more,
});

/** A copy that a test may change, of a state that no step may. */
export const deepCopy = <T>(value: T): T => structuredClone(value);
