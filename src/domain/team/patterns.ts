import type { Json } from '../../contracts/frames.js';
import type { PatternAnswer } from '../../contracts/team-status.js';
import { iso } from '../instant.js';
import { answerText, isEmptyAnswer } from '../text.js';
import { say, type TeamDraft } from './draft.js';
import { type CallAnswer, done, type TeamEvent } from './effects.js';
import type { PatternItem, PatternKind, PatternRun } from './pattern-state.js';
import { agentsOfRole, chooseByRole, liteAgentsOfRole } from './roles.js';
import { reserveLite } from './spending.js';
import type { AgentRecord } from './state.js';
import { ask } from './turns.js';

const nobody = (role: string, content: string): PatternItem => ({
  role,
  content,
  agentId: null,
  run: null,
  lite: [],
  isDone: true,
  answer: null,
  error: null,
});

const askAgent = (draft: TeamDraft, agent: AgentRecord, content: string): PatternItem => {
  const run = ask(draft, agent, { content, by: null, background: true });
  return { ...nobody(agent.plan.role, content), agentId: agent.plan.agentId, run, isDone: false };
};

/** One lite agent is asked, with what its call may use held where that fits: nobody waits for it, and nobody is asked for more. */
export const askOneLite = (draft: TeamDraft, asked: { patternId: string; liteId: string; content: string }): void => {
  const held = reserveLite(draft, asked);
  draft.effects.push({ type: 'ask_lite', ...asked, ...(held !== null && { held }) });
};

/** All lite agents of the role are asked, as no other has it; they answer without a slot. */
const askLite = (draft: TeamDraft, patternId: string, role: string, content: string): PatternItem => {
  const lite = liteAgentsOfRole(draft.team, role).map(({ liteId }) => ({ liteId, answer: null, answered: false }));
  for (const { liteId } of lite) askOneLite(draft, { patternId, liteId, content });
  return { ...nobody(role, content), lite, isDone: lite.length === 0 };
};

const askRole = (draft: TeamDraft, patternId: string, role: string, content: string): PatternItem => {
  const agent = chooseByRole(draft.team, role);
  return agent ? askAgent(draft, agent, content) : askLite(draft, patternId, role, content);
};

const firstItems = (draft: TeamDraft, patternId: string, pattern: PatternKind): PatternItem[] => {
  switch (pattern.kind) {
    case 'round_robin':
      return pattern.prompts.map((prompt) => askRole(draft, patternId, pattern.role, prompt));
    case 'send_to_role':
      return [askRole(draft, patternId, pattern.role, pattern.content)];
    case 'broadcast':
      return pattern.roles.flatMap((role) => {
        const agents = agentsOfRole(draft.team, role);
        if (agents.length === 0) return [askLite(draft, patternId, role, pattern.content)];
        return agents.map((agent) => askAgent(draft, agent, pattern.content));
      });
    case 'role_chain':
      return [];
  }
};

/** Begins a pattern (spec 05); it is answered by an effect when all that it asks have ended. */
export const beginPattern = (draft: TeamDraft, patternId: string, pattern: PatternKind): CallAnswer => {
  const { team, now } = draft;
  if (team.patterns.some((other) => other.patternId === patternId)) return done([]);
  const items = firstItems(draft, patternId, pattern);
  team.patterns = [...team.patterns, { patternId, pattern, since: now, items }];
  return done([...new Set(items.flatMap(({ agentId }) => agentId ?? []))]);
};

/** Answers of lite agents joined by newline; empty ones are skipped, and none left is no answer (details 3.4). */
export const joinedAnswers = (answers: readonly Json[]): string | null => {
  const given = answers.filter((answer) => !isEmptyAnswer(answer)).map(answerText);
  return given.length === 0 ? null : given.join('\n');
};

/** What a stage of a chain is asked: the answer of the last one before it that gave any, else what the chain began with. */
const inputOf = (content: string, items: readonly PatternItem[]): string => {
  const last = items.findLast(({ answer }) => answer !== null);
  return last ? answerText(last.answer) : content;
};

/** Asks the next role of a chain whose last stage is done; roles that nobody has are passed over. */
const nextStages = (draft: TeamDraft, run: PatternRun): PatternItem[] => {
  const { pattern, patternId } = run;
  const items = [...run.items];
  if (pattern.kind !== 'role_chain') return items;
  while (items.every(({ isDone, error }) => isDone && error === null)) {
    const role = pattern.roles[items.length];
    if (role === undefined) break;
    items.push(askRole(draft, patternId, role, inputOf(pattern.content, items)));
  }
  return items;
};

const isDone = ({ pattern, items }: PatternRun): boolean =>
  items.every((item) => item.isDone) &&
  (pattern.kind !== 'role_chain' || items.length === pattern.roles.length || items.some(({ error }) => error !== null));

const handledBy = ({ agentId, lite }: PatternItem): string =>
  agentId ?? (lite.length === 0 ? 'none' : lite.map(({ liteId }) => liteId).join(', '));

const isAnswered = ({ isDone: isOver, error, agentId, answer }: PatternItem): boolean =>
  isOver && error === null && (agentId !== null || answer !== null);

/** What a pattern comes to: a failed stage fails a chain, and elsewhere only what nobody has answered has failed. */
export const patternAnswer = ({ pattern, items }: PatternRun): PatternAnswer => {
  const lineage = items.map((item) => ({
    role: item.role,
    handled_by: handledBy(item),
    answer: item.answer,
    error: item.error,
  }));
  const isOne = pattern.kind === 'role_chain' || pattern.kind === 'send_to_role';
  const answer = isOne
    ? (items.findLast((item) => item.answer !== null)?.answer ?? null)
    : items.map((item) => item.answer);
  const hasFailed = (isOne && items.some(({ error }) => error !== null)) || !items.some(isAnswered);
  return { status: hasFailed ? 'failed' : 'completed', answer, lineage };
};

type LiteAnswer = Extract<TeamEvent, { type: 'LITE_ANSWERED' }>;

/** Hears of a lite agent; false: nobody waits for it. */
export const hearLite = ({ team }: TeamDraft, { patternId, liteId, answer }: LiteAnswer): boolean => {
  let isHeard = false;
  team.patterns = team.patterns.map((run) => {
    if (run.patternId !== patternId) return run;
    const items = run.items.map((item) => {
      const place = item.lite.findIndex((lite) => lite.liteId === liteId && !lite.answered);
      if (isHeard || place === -1) return item;
      isHeard = true;
      const lite = item.lite.with(place, { liteId, answer, answered: true });
      const allAnswered = lite.every(({ answered }) => answered);
      return {
        ...item,
        lite,
        isDone: allAnswered,
        answer: allAnswered ? joinedAnswers(lite.map((one) => one.answer)) : null,
      };
    });
    return { ...run, items };
  });
  return isHeard;
};

/** Follows the turns that ended in this step, goes on with chains, and answers what is done. */
export const followPatterns = (draft: TeamDraft): void => {
  const { team, ended } = draft;
  if (team.patterns.length === 0) return;
  const ends = new Map(ended.map(({ run, end }) => [run, end]));
  for (const { patternId } of team.patterns) {
    const run = team.patterns.find((other) => other.patternId === patternId);
    if (!run) continue;
    const heard = run.items.map((item) => {
      const end = item.run === null || item.isDone ? undefined : ends.get(item.run);
      if (!end) return item;
      return end.as === 'completed'
        ? { ...item, isDone: true, answer: end.result }
        : { ...item, isDone: true, error: end.error };
    });
    const items = nextStages(draft, { ...run, items: heard });
    const followed = { ...run, items };
    const goesOn = !isDone(followed);
    team.patterns = team.patterns.flatMap((other) =>
      other.patternId !== patternId ? [other] : goesOn ? [followed] : [],
    );
    if (!goesOn)
      say(draft, { event: 'pattern', data: { at: iso(draft.now), pattern_id: patternId, ...patternAnswer(followed) } });
  }
};
