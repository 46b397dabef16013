import type { TeamDraft } from './draft.js';
import { inLine, slotsInUse } from './slot-use.js';
import { agentOf } from './state.js';
import { toolWaitAnswer } from './tool-answers.js';
import { begin } from './turns.js';

/** Tells a waiter how its wait ended, and forgets the wait. */
const answer = (draft: TeamDraft, waitId: string): void => {
  const { team, effects } = draft;
  const wait = team.waits.find((other) => other.waitId === waitId);
  if (!wait?.decided) return;
  team.waits = team.waits.filter((other) => other !== wait);
  const { status, at } = wait.decided;
  const outcome = { status, agentIds: wait.ids, elapsedMs: at - wait.since };
  if (wait.call) {
    const { notes, ...call } = wait.call;
    effects.push({ type: 'answer_call', ...call, answer: toolWaitAnswer(team, outcome, notes) });
  } else effects.push({ type: 'answer_wait', waitId, answer: outcome });
};

/** Waits that have ended are answered: outside at once, an agent once it has a slot to go on with. */
const answerWaits = (draft: TeamDraft): void => {
  const { team } = draft;
  const isOpen = (by: string): boolean => team.waits.some((wait) => wait.by === by && !wait.decided);
  for (const { waitId, by, decided } of team.waits) {
    if (!decided) continue;
    const agent = by === null ? undefined : agentOf(team, by);
    // One of several waits of an agent takes no slot: it goes on with the last of them.
    const needsSlot = by !== null && agent !== undefined && !isOpen(by);
    if (!needsSlot || slotsInUse(team) < team.setup.maxConcurrent) answer(draft, waitId);
  }
};

/** Gives free slots to those that go on after a wait, and then to those in line, as long as the team is not paused. */
export const fillSlots = (draft: TeamDraft): void => {
  answerWaits(draft);
  const { team } = draft;
  if (team.state !== 'OPEN') return;
  const free = team.setup.maxConcurrent - slotsInUse(team);
  for (const agent of inLine(team).slice(0, Math.max(0, free))) begin(draft, agent);
};
