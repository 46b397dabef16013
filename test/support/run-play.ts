import { openRunSchema, type OpenRunBody } from '../../src/contracts/run.js';
import type { RunDurableEvent } from '../../src/contracts/run-events.js';
import type { FeedbackRequest, GivenFeedback } from '../../src/contracts/feedback.js';
import type { Json } from '../../src/contracts/frames.js';
import { openDebateSchema } from '../../src/contracts/debate.js';
import { openSessionSchema } from '../../src/contracts/session.js';
import { openRefinementSchema } from '../../src/contracts/refinement.js';
import { commandStepSchema } from '../../src/contracts/run.js';
import type { RunEffect, RunEvent, RunPending, StepFault } from '../../src/domain/run/effects.js';
import { nextDue, stepRun } from '../../src/domain/run/run.js';
import { setUpDebate } from '../../src/domain/debate/set-up-debate.js';
import { setUpSession } from '../../src/domain/session/set-up-session.js';
import { setUpRefinement } from '../../src/domain/refinement/set-up-refinement.js';
import { setUpRun, type StepSetUp } from '../../src/domain/run/set-up-run.js';
import { openRequest, openRunState, type RunState } from '../../src/domain/run/state.js';
import { given } from './given.js';
import { freeOperator } from './session-play.js';
import { start, WorkPlay } from './work-play.js';

type Step = OpenRunBody['phases'][number]['steps'][number];

const adapter = { kind: 'scripted' as const, script: [{ final: 'x' }] };
export const refinementWith = { task: 'Write it', generator: { adapter }, critic: { adapter } };

const role = { adapter };
export const debateWith = {
  task: 'Decide it',
  workspace: { path: '/srv/project' },
  roles: { analyst: role, solution: role, critic: role, security: role, optimizer: role },
};
const sessionWith = { prompt: 'Which?', lanes: [{ lane_id: 'a', adapter }] };
const presetWith = { gate: {}, refinement: refinementWith, debate: debateWith, session: sessionWith };

/** A step by its name: a command, unless `more` says otherwise. */
export const aStep = (name: string, more: Partial<Step> = {}): Step => ({
  name,
  kind: 'command',
  with: presetWith[more.kind as keyof typeof presetWith] ?? { argv: ['true'] },
  ...more,
});
/** A step that only asks. */
export const aGate = (name: string, gate: Partial<NonNullable<Step['gate']>> = {}): Step => ({
  name,
  kind: 'gate',
  gate: { prompt: 'Go on?', ...gate },
});
/** One phase `build` of these steps. */
export const runBody = (steps: Step[], more: Partial<OpenRunBody> = {}): OpenRunBody => ({
  work_id: '124',
  phases: [{ name: 'build', steps }],
  ...more,
});

const faultsOf = (error: { issues: { path: PropertyKey[]; message: string }[] }) => ({
  faults: error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message })),
});

/** Steps are set up as in the product, for the kinds that these tests play with. */
export const stepSetUp: StepSetUp = {
  started: (kind, body, identity) => {
    if (kind === 'session') {
      const read = openSessionSchema.safeParse(body);
      if (!read.success) return faultsOf(read.error);
      const setup = setUpSession(read.data, { ...identity, webUiUrl: `http://ui/${identity.id}` }, freeOperator);
      return { work: { kind, setup, request: body, bodyHash: 'hash', summary: 'session' } };
    }
    if (kind === 'debate') {
      const read = openDebateSchema.safeParse(body);
      if (!read.success) return faultsOf(read.error);
      const of = { ...identity, webUiUrl: `http://ui/${identity.id}`, startedBy: null, requiresAuthentication: false };
      const set = setUpDebate(read.data, of, freeOperator);
      if ('faults' in set) return set;
      return { work: { kind, setup: set.setup, request: body, bodyHash: 'hash', summary: 'debate' } };
    }
    if (kind !== 'refinement') return { faults: [{ path: '', message: `these tests play no ${kind}` }] };
    const read = openRefinementSchema.safeParse(body);
    if (!read.success) return faultsOf(read.error);
    const set = setUpRefinement(read.data, { ...identity, webUiUrl: `http://ui/${identity.id}` }, freeOperator);
    if ('faults' in set) return set;
    return { work: { kind, setup: set.setup, request: body, bodyHash: 'hash', summary: 'refinement' } };
  },
  command: (body) => {
    const read = commandStepSchema.safeParse(body);
    return read.success ? { command: read.data } : faultsOf(read.error);
  },
};

export const identity = {
  id: 'run-1',
  traceId: '0'.repeat(32),
  webUiUrl: 'http://ui/run-1',
  startedBy: null,
  requiresAuthentication: false,
};

/** A run played by hand. */
export class RunPlay extends WorkPlay<RunState, RunEvent, RunEffect, RunDurableEvent> {
  constructor(body: OpenRunBody, of: { startedBy?: string } = {}) {
    const set = setUpRun(openRunSchema.parse(body), { ...identity, ...of }, stepSetUp);
    if ('faults' in set) throw new Error(JSON.stringify(set.faults));
    super(openRunState(set.setup, start));
  }

  get run(): RunState {
    return this.work;
  }
  protected step(event: RunEvent) {
    const { run: work, effects, events } = stepRun(this.work, event, this.now);
    return { work, effects, events };
  }
  protected due(): number | null {
    return nextDue(this.work);
  }
  /** From its start until its folder is there, and the first step under way. */
  start(): this {
    this.take({ type: 'START' });
    return this.take({ type: 'PREPARED', id: this.pending.id, path: '/runs/run-1', branch: null });
  }
  cancel = (): this => this.take({ type: 'CANCEL' });

  get pending(): RunPending {
    if (!this.run.pending) throw new Error(`nothing is under way in ${this.run.state}`);
    return this.run.pending;
  }
  done(output: Json = 'ok', tokens = 0): this {
    const usage = { tokens, usdMicros: 0 };
    return this.take({ type: 'STEP', id: this.pending.id, outcome: { outcome: 'completed', output, usage } });
  }
  fails(fault: Partial<StepFault> = {}): this {
    const usage = { tokens: 0, usdMicros: 0 };
    const of = { code: 'EAGENTDOWN', message: 'it broke', retryable: true, ...fault };
    return this.take({ type: 'STEP', id: this.pending.id, outcome: { outcome: 'failed', fault: of, usage } });
  }
  stopped(): this {
    const usage = { tokens: 0, usdMicros: 0 };
    return this.take({ type: 'STEP', id: this.pending.id, outcome: { outcome: 'stopped', usage } });
  }

  /** What people are asked now. */
  get request(): FeedbackRequest {
    const open = openRequest(this.run);
    if (!open) throw new Error(`nobody is asked anything in ${this.run.state}`);
    return open.request;
  }
  answer(response: string, more: Partial<GivenFeedback> = {}): this {
    return this.take({ type: 'FEEDBACK', given: given(response, { request_id: this.request.request_id, ...more }) });
  }

  /** The state of each step, by name. */
  get steps(): Record<string, string> {
    const { setup, steps } = this.run;
    return Object.fromEntries(setup.steps.map(({ name }, index) => [name, steps[index]?.state ?? '']));
  }
  /** How often each step was tried, by name. */
  get tries(): Record<string, number> {
    const { setup, steps } = this.run;
    return Object.fromEntries(setup.steps.map(({ name }, index) => [name, steps[index]?.attempts.length ?? 0]));
  }
}

/** Under way in its first step. */
export const started = (steps: Step[], more: Partial<OpenRunBody> = {}): RunPlay =>
  new RunPlay(runBody(steps, more)).start();
