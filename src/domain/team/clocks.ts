import { keepClocks } from '../ledger/clock.js';
import { nextTimeStep, tellTime } from '../ledger/steps.js';
import { nobodyAtWork, teamAccount } from './accounts.js';
import { waitingAt } from './budget-asks.js';
import type { TeamDraft } from './draft.js';
import { accountIdOf, tell } from './spending.js';
import { type AgentRecord, isOver, type TeamState } from './state.js';
import { isLiteAtWork, waitOf } from './tenant-waits.js';

/** Where no time is limited nobody looks at a clock, and none is kept. */
const isTimed = ({ ledger }: TeamState): boolean => ledger.accounts.some(({ limits }) => limits.maxMs !== null);

/**
 * What an agent is at, to a clock. `line`: it waits for what others have, a slot or what they hold of the budget; `person`: for an
 * answer; `agents`: for others.
 */
type Doing = 'work' | 'line' | 'agents' | 'person' | 'nothing';

const doings = (team: TeamState): Record<Exclude<Doing, 'nothing'>, string[]> => {
  const { agents, asks, held, waits } = team;
  const asking = new Set(
    asks.flatMap((ask) =>
      'accountId' in ask ? waitingAt(team, ask.accountId).flatMap(({ turn }) => turn?.run ?? []) : [ask.run],
    ),
  );
  const inLine = new Set(held.map(({ run }) => run));
  const waiting = new Set(waits.flatMap(({ by, decided }) => (by !== null && !decided ? by : [])));
  const told = new Set(waits.flatMap(({ by, decided }) => (by !== null && decided ? by : [])));
  const doing = ({ state, turn, plan: { agentId } }: AgentRecord): Doing => {
    if (!turn || (state !== 'PENDING' && state !== 'RUNNING')) return 'nothing';
    if (state === 'PENDING') return 'line';
    if (waiting.has(agentId)) return 'agents';
    if (asking.has(turn.run) || waitOf(team, { state, turn })) return 'person';
    return told.has(agentId) || inLine.has(turn.run) ? 'line' : 'work';
  };
  const found: Record<Doing, string[]> = { work: [], line: [], agents: [], person: [], nothing: [] };
  for (const agent of agents) found[doing(agent)].push(agent.plan.agentId);
  return found;
};

/**
 * Agents that do something, or wait for what is no person: who waits for others does as long as any of those does, and who stands in
 * line as long as anybody is there who may make way. A team that is paused waits for a person as a whole.
 */
export const agentsAtWork = (team: TeamState): Set<string> => {
  if (team.state !== 'OPEN') return new Set();
  const found = doings(team);
  const atWork = new Set(found.work);
  const waiting = new Set(found.agents);
  const addWaiting = (): void => {
    for (let size = -1; size < atWork.size; ) {
      size = atWork.size;
      for (const { by, ids, decided } of team.waits)
        if (by !== null && !decided && waiting.has(by) && ids.some((id) => atWork.has(id))) atWork.add(by);
    }
  };
  addWaiting();
  if (atWork.size === 0) return atWork;
  for (const id of found.line) atWork.add(id);
  addWaiting();
  return atWork;
};

/**
 * The clock of a budget runs while anybody whose it is is at work, and stands still else (spec 08 "Waiting for a person never counts
 * against a time budget").
 */
export const setClocks = ({ team, now }: TeamDraft): void => {
  if (!isTimed(team)) return;
  const above = new Map(team.ledger.accounts.map(({ accountId, parentId }) => [accountId, parentId]));
  const atWork = agentsAtWork(team);
  const running = new Set<string>(isLiteAtWork(team) && team.state === 'OPEN' ? [teamAccount] : []);
  for (const agent of team.agents) {
    if (!atWork.has(agent.plan.agentId)) continue;
    for (let id = accountIdOf(agent) as string | null | undefined; id && !running.has(id); id = above.get(id))
      running.add(id);
  }
  team.ledger = keepClocks(team.ledger, running, nobodyAtWork, now);
};

/** What the clock has brought since the step before. */
export const tellClocks = (draft: TeamDraft): void => {
  if (!isTimed(draft.team)) return;
  const { ledger, notices } = tellTime(draft.team.ledger, draft.now);
  draft.team.ledger = ledger;
  tell(draft, notices);
};

/** When the clock alone brings a budget to its next step or its end, epoch milliseconds; null: never, as things are. */
export const nextClockDue = (team: TeamState): number | null => {
  if (isOver(team) || !isTimed(team)) return null;
  const dues = team.ledger.accounts.flatMap((account) => nextTimeStep(account, team.steppedAt) ?? []);
  return dues.length === 0 ? null : Math.min(...dues);
};
