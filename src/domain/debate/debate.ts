import { nextApprovalDue } from '../approval.js';
import { iso } from '../instant.js';
import { isTerminal, step } from '../machine.js';
import { takeTenantWait, type TenantWaitEvent, tenantWaitOf } from '../tenant-waits.js';
import { withClock } from '../work-account.js';
import { remember } from './closing.js';
import { takeAnswer, takeFeedback, tick } from './answers.js';
import { statementOf } from './consensus.js';
import { type DebateDraft, type DebateStep, openDraft, say } from './draft.js';
import type { DebateEvent } from './effects.js';
import { factsOf } from './facts.js';
import { openGate } from './gate.js';
import { type DebateEventName, debateMachine } from './machine.js';
import { nextEvent } from './next.js';
import { perform, rollbackReason } from './perform.js';
import { speakerIn } from './roles.js';
import { askAgain, askRole } from './rounds.js';
import { sayRolledBack } from './running.js';
import type { DebateState } from './state.js';
import { awaitedBy, describeWaiting, waitingFor } from './waiting.js';

export type { DebateStep } from './draft.js';

export const isOver = ({ state }: Pick<DebateState, 'state'>): boolean => isTerminal(debateMachine, state);

/**
 * Takes one event and follows every transition it makes possible: pure, so that a replay, a test and a diagram see the same
 * debate (spec 02). What answers nothing that is under way is counted and changes nothing. `now` is epoch milliseconds.
 * @throws InvalidTransitionError for a second START while the debate runs; nothing has changed then.
 */
export const stepDebate = (debate: DebateState, event: DebateEvent, now: number): DebateStep => {
  const draft = openDraft(debate, now);
  take(draft, event);
  for (let on = nextEvent(draft.debate); on !== null; on = nextEvent(draft.debate)) transition(draft, on);
  noteWaiting(draft);
  keepTime(draft);
  return { debate: draft.debate, effects: draft.effects, events: draft.events };
};

/** The next moment at which time alone changes something, or null: an approval expires, or others are asked as well. */
export const nextDue = (debate: DebateState): number | null => {
  const gate = isOver(debate) ? null : openGate(debate);
  return gate && nextApprovalDue(gate);
};

const take = (draft: DebateDraft, event: DebateEvent): void => {
  const { debate } = draft;
  if (event.type === 'PERSON_AWAITED') return personAwaited(draft, event);
  if (isOver(debate)) {
    // Time passes for what has ended, too, and is no event of its own.
    if (event.type !== 'TICK') debate.dropped += 1;
    return;
  }
  switch (event.type) {
    case 'START':
      return transition(draft, 'START');
    case 'RESUME':
      return resume(draft);
    case 'TICK':
      return tick(draft);
    case 'CANCEL':
      return cancel(draft);
    case 'FEEDBACK':
      return takeFeedback(draft, event.given);
    default:
      return takeAnswer(draft, event);
  }
};

/** What a call waits for a person is not on the time of its healing either. */
const personAwaited = ({ debate, now }: DebateDraft, event: TenantWaitEvent): void => {
  const waited = tenantWaitOf(debate, event.call);
  takeTenantWait(debate, event, now);
  if (event.tenant === null && waited && debate.healingSince !== undefined) debate.healingSince += now - waited.since;
};

/** What a fork begins with has nothing under way: it says so, and asks for what its state waits for. */
const resume = (draft: DebateDraft): void => {
  const { debate, now } = draft;
  const { state, pass, statements, pending, firstTry } = debate;
  const role = speakerIn(state);
  if (pending !== null || (role === null && state !== 'STORING_MEMORY')) {
    debate.dropped += 1;
    return;
  }
  const made = `${statements.length} ${statements.length === 1 ? 'statement' : 'statements'}`;
  const message = `begins from ${made} of before the fork, in pass ${pass}`;
  say(draft, { event: 'log', data: { at: iso(now), message } });
  if (role === null) remember(draft);
  // A role that has spoken in this pass has had its turn.
  else if (statementOf(debate, role)) return;
  else if (firstTry) askAgain(draft, role, firstTry);
  else askRole(draft, role);
};

const decided = new Set<DebateState['state']>(['SUCCEEDED', 'BLOCKED', 'STORING_MEMORY', 'AUDITING']);

const cancel = (draft: DebateDraft): void => {
  const { debate } = draft;
  if (!decided.has(debate.state)) debate.cancelled = true;
  transition(draft, 'CANCEL');
};

const transition = (draft: DebateDraft, on: DebateEventName): void => {
  const { debate, now, events } = draft;
  const taken = step(debateMachine, debate.state, on, factsOf(debate));
  debate.state = taken.to;
  events.push({
    event: 'state',
    data: {
      at: iso(now),
      machine: 'debate',
      from: taken.from,
      to: taken.to,
      on,
      actions: [...taken.actions],
      pass: debate.pass,
    },
  });
  if (isOver(debate)) debate.endedAt = now;
  if (on === 'ROLLED_BACK') sayRolledBack(draft, rollbackReason(debate, on));
  for (const action of taken.actions) perform(draft, action, on);
};

/** No time passes while a person is waited for, at the human gate or by a call (spec 08 "never counts against a time budget"). */
const keepTime = ({ debate }: DebateDraft): void => {
  const isPersonAwaited = debate.state === 'AWAITING_APPROVAL' || awaitedBy(debate) !== null;
  debate.ledger = withClock(debate.ledger, isPersonAwaited, debate.steppedAt);
};

const noteWaiting = (draft: DebateDraft): void => {
  const { debate, now } = draft;
  const waiting = waitingFor(debate);
  const before = debate.waiting;
  if (waiting?.on === before?.on && waiting?.id === before?.id) return;
  debate.waiting = waiting && { ...waiting, since: now };
  say(draft, { event: 'waiting', data: describeWaiting(debate) });
};
