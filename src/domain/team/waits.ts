import type { TeamDraft } from './draft.js';
import { type CallAnswer, done, refused } from './effects.js';
import { agentOf, isSettled, type TeamState } from './state.js';
import { quoted } from './words.js';

export interface Wait {
  waitId: string;
  by: string | null;
  /** null: all agents that there are, but for those that wait for the waiter. */
  ids: readonly string[] | null;
  timeoutMs: number | null;
}

/** Those that wait, directly or through others, for an agent: waiting for one of them would never end. */
const waitersOf = ({ waits }: TeamState, agentId: string): Set<string> => {
  const found = new Set<string>();
  const toLookAt = [agentId];
  for (let id = toLookAt.pop(); id !== undefined; id = toLookAt.pop()) {
    for (const { by, ids, decided } of waits) {
      if (by === null || decided || found.has(by) || !ids.includes(id)) continue;
      found.add(by);
      toLookAt.push(by);
    }
  }
  return found;
};

/** Why an agent's wait would never end; null: it may. */
const circle = (team: TeamState, by: string, ids: readonly string[]): string | null => {
  if (ids.includes(by)) return `agent ${quoted(by)} cannot wait for itself`;
  const waiters = waitersOf(team, by);
  const back = ids.find((id) => waiters.has(id));
  return back === undefined
    ? null
    : `agent ${quoted(by)} cannot wait for ${quoted(back)}, which waits for it; answer, and ${quoted(back)} goes on`;
};

/** Begins a wait (details 3.1, 3.2); it is answered by an effect, in the same step where nothing has to be waited for. */
export const beginWait = (draft: TeamDraft, { waitId, by, ids, timeoutMs }: Wait): CallAnswer => {
  const { team, now } = draft;
  if (team.waits.some((wait) => wait.waitId === waitId)) return done([]);
  const waiters = by === null ? new Set<string>() : waitersOf(team, by).add(by);
  const all = team.agents.map(({ plan }) => plan.agentId).filter((id) => !waiters.has(id));
  const waited = [...new Set(ids ?? all)];
  const message = by === null ? null : circle(team, by, waited);
  if (message !== null) return refused('invalid_request', message);
  const dueAt = timeoutMs === null ? null : now + timeoutMs;
  team.waits = [...team.waits, { waitId, by, ids: waited, since: now, dueAt, decided: null }];
  return done(waited);
};

/** Ends the waits whose agents have all settled, unknown ones included, or whose time is up. */
export const decideWaits = (draft: TeamDraft): void => {
  const { team, now } = draft;
  if (team.waits.length === 0) return;
  const live = new Set(team.agents.filter((agent) => !isSettled(agent)).map(({ plan }) => plan.agentId));
  team.waits = team.waits.map((wait) => {
    if (wait.decided) return wait;
    if (!wait.ids.some((id) => live.has(id))) return { ...wait, decided: { status: 'ok' as const, at: now } };
    const isDue = wait.dueAt !== null && now >= wait.dueAt;
    return isDue ? { ...wait, decided: { status: 'timeout' as const, at: now } } : wait;
  });
};

/** When the next wait gives up; null: none does. */
export const nextDue = ({ waits }: TeamState): number | null => {
  const due = waits.flatMap(({ dueAt, decided }) => (dueAt === null || decided ? [] : [dueAt]));
  return due.length === 0 ? null : Math.min(...due);
};

/** Whom an agent waits for now. */
export const waitsOf = ({ waits, agents }: TeamState, agentId: string): string[] => [
  ...new Set(
    waits
      .filter(({ by, decided }) => by === agentId && !decided)
      .flatMap(({ ids }) => ids)
      .filter((id) => agentOf({ agents }, id) !== undefined),
  ),
];
