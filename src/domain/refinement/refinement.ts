import { noAmount } from '../budget.js';
import { iso } from '../instant.js';
import { isTerminal, step } from '../machine.js';
import { ask, callDue, timedOut } from './calls.js';
import { openDraft, type RefinementDraft, type RefinementStep, say } from './draft.js';
import { type RefinementEvent, roleOf } from './effects.js';
import { hear } from './hear.js';
import { type RefinementActionName, type RefinementEventName, refinementMachine } from './machine.js';
import { refinementFault, refinementResult } from './result.js';
import { factsOf } from './scores.js';
import type { RefinementState } from './state.js';
import { takeTenantWait } from '../tenant-waits.js';
import { endCall, heldFor, openCall, withClock } from '../work-account.js';
import { awaitedBy, describeWaiting } from './waiting.js';

export type { RefinementStep } from './draft.js';

/** A call ends itself when the iteration's time is over; only where no worker does it is it given up from here, so much later. */
const graceMs = 5_000;

export const isOver = ({ state }: Pick<RefinementState, 'state'>): boolean => isTerminal(refinementMachine, state);

/**
 * Takes one event and follows every transition it makes possible: pure, so that a replay, a test and a diagram see the same
 * refinement (spec 04). What answers nothing that is under way is counted and changes nothing. `now` is epoch milliseconds.
 * @throws InvalidTransitionError for a second START while it runs; nothing has changed then.
 */
export const stepRefinement = (before: RefinementState, event: RefinementEvent, now: number): RefinementStep => {
  const draft = openDraft(before, now);
  const { refinement } = draft;
  take(draft, event);
  while (refinement.turn !== null && !isOver(refinement)) transition(draft, refinement.turn.on);
  keepTime(draft);
  noteWaiting(draft, before);
  return { refinement, effects: draft.effects, events: draft.events };
};

/** The next moment at which time alone changes something, or null. */
export const nextDue = (refinement: RefinementState): number | null =>
  isOver(refinement) || refinement.pending === null || awaitedBy(refinement) !== null
    ? null
    : callDue(refinement) + graceMs;

const take = (draft: RefinementDraft, event: RefinementEvent): void => {
  const { refinement, now } = draft;
  if (event.type === 'PERSON_AWAITED') return takeTenantWait(refinement, event, now);
  if (isOver(refinement)) {
    // Time passes for what has ended, too, and is no event of its own.
    if (event.type !== 'TICK') refinement.dropped += 1;
    return;
  }
  switch (event.type) {
    case 'START':
    case 'CANCEL':
      return transition(draft, event.type);
    case 'RESUME':
      return resume(draft);
    case 'TICK': {
      const due = nextDue(refinement);
      if (due !== null && refinement.pending !== null && now >= due) {
        refinement.turn = timedOut(draft, roleOf(refinement.pending));
        giveUp(draft);
      }
      return;
    }
    default:
      return hear(draft, event);
  }
};

/** What is under way is stopped, and what it used is told to nobody. */
const giveUp = ({ refinement, effects }: RefinementDraft): void => {
  if (refinement.pending) effects.push({ type: 'stop', of: refinement.pending.id });
  refinement.pending = null;
  refinement.ledger = endCall(refinement.ledger, openCall(refinement.ledger), noAmount);
};

/** What a fork begins with has nothing under way: either its latest version has a score to judge by, or it is to get one. */
const resume = (draft: RefinementDraft): void => {
  const { refinement, now } = draft;
  const { state, pending, versions, turn } = refinement;
  if (state !== 'CRITIQUING' || pending !== null) {
    refinement.dropped += 1;
    return;
  }
  const message = `begins from ${versions.length === 1 ? 'a version' : `${versions.length} versions`} made before the fork`;
  say(draft, { event: 'log', data: { at: iso(now), message } });
  if (turn === null) ask(draft, 'critic');
};

const transition = (draft: RefinementDraft, on: RefinementEventName): void => {
  const { refinement, now } = draft;
  const taken = step(refinementMachine, refinement.state, on, factsOf(refinement));
  refinement.state = taken.to;
  if (taken.actions.includes('generate')) {
    refinement.iteration += 1;
    refinement.iterationStartedAt = now;
  }
  const { from, to } = taken;
  const data = { at: iso(now), machine: 'refinement' as const, from, to, on, actions: [...taken.actions] };
  say(draft, { event: 'state', data: { ...data, iteration: refinement.iteration } });
  if (isOver(refinement)) refinement.endedAt = now;
  for (const action of taken.actions) perform(draft, action, on);
};

/** Does what a row of the table names. */
const perform = (draft: RefinementDraft, action: RefinementActionName, on: RefinementEventName): void => {
  const { refinement, now } = draft;
  switch (action) {
    case 'generate':
      return ask(draft, 'generator');
    case 'critique':
    case 'ask_again':
      return ask(draft, 'critic');
    case 'stop':
      return giveUp(draft);
    case 'emit_final':
      refinement.result = refinementResult(refinement, on);
      if (refinement.result) say(draft, { event: 'final', data: refinement.result });
      return;
    case 'name_fault':
      refinement.error = refinementFault(refinement, on);
      return say(draft, { event: 'error', data: { ...refinement.error, at: iso(now) } });
  }
};

/** No time passes while a person is waited for, neither of the budget nor of the iteration (spec 08 "never counts against a time budget"). */
const keepTime = ({ refinement, now }: RefinementDraft): void => {
  const { ledger, iterationStartedAt } = refinement;
  refinement.ledger = withClock(ledger, awaitedBy(refinement) !== null, now);
  refinement.iterationStartedAt = iterationStartedAt + heldFor(ledger, refinement.ledger);
};

const noteWaiting = (draft: RefinementDraft, before: RefinementState): void => {
  const { refinement, now } = draft;
  const isSame = (awaitedBy(refinement) === null) === (awaitedBy(before) === null);
  if ((refinement.pending?.id ?? null) === (before.pending?.id ?? null) && isSame) return;
  refinement.waitingSince = refinement.pending ? now : null;
  say(draft, { event: 'waiting', data: describeWaiting(refinement) });
};
