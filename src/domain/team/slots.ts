import type { TeamDraft } from './draft.js';
import { inLine, slotsInUse } from './slot-use.js';
import { cleanUp } from './spawn.js';
import { agentOf, hasEnded, isSettled } from './state.js';
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

/** Explorers whose answer everybody has who waits for it are gone: nobody asked for an agent, and each counts among those of the team. */
const cleanUpExplorers = (draft: TeamDraft): void => {
  const { team, effects } = draft;
  const waitedFor = new Set(team.waits.flatMap(({ ids }) => ids));
  // Who waits outside is told of agents as they stand after this step.
  for (const effect of effects)
    if (effect.type === 'answer_wait') for (const id of effect.answer.agentIds) waitedFor.add(id);
  for (const agent of team.agents) {
    const { agentId, explores } = agent.plan;
    if (explores && hasEnded(agent) && isSettled(agent) && !waitedFor.has(agentId)) cleanUp(draft, agentId);
  }
};

/** Gives free slots to those that go on after a wait, and then to those in line, as long as the team is not paused. */
export const fillSlots = (draft: TeamDraft): void => {
  answerWaits(draft);
  cleanUpExplorers(draft);
  const { team } = draft;
  if (team.state !== 'OPEN') return;
  const free = team.setup.maxConcurrent - slotsInUse(team);
  for (const agent of inLine(team).slice(0, Math.max(0, free))) begin(draft, agent);
};
