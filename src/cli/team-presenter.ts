import type { NumberedTeamEvent } from '../contracts/team-events.js';
import type {
  AgentStatus,
  ContextInfo,
  DelegationStatus,
  LatencyPercentiles,
  PatternAnswer,
  TeamResult,
  TeamStats,
  TeamStatus,
} from '../contracts/team-status.js';
import { durationWords } from '../domain/ledger/steps.js';
import type { Heard } from './follow.js';
import { answeredLine, errorLines, headline, restoredLines, spentLine, waitingLines } from './lines.js';
import type { Presenter } from './presenter.js';
import { createScreen } from './screen.js';
import { type Placed, treeName, treeOf } from './team-tree.js';
import { timeUsedWords } from './time-used.js';
import { agentMarks, emptyTeam, hearTeam, teamFrame, type TeamView } from './team-view.js';
import { answerText } from './view.js';

const person = 'a person';

/** What there is to say of an agent: what went wrong, what it waits for, its words, or its answer. */
const saidBy = ({ error, waiting_for: waits, waiting, text, result, streaming }: AgentStatus): string => {
  if (error) return `${error.code}: ${headline(error.message, 90)}`;
  if (waits.length > 0)
    return `waits for ${waits.slice(0, 5).join(', ')}${waits.length > 5 ? ` and ${waits.length - 5} more` : ''}`;
  if (waiting) return waiting.detail;
  if (streaming) return `… ${headline((text ?? '').slice(-80), 80)}`;
  return result === null ? headline(text ?? '', 80) : headline(answerText(result), 80);
};

const agentLine = (placed: Placed<AgentStatus>, width: number): string => {
  const { state, role, turns, queued, spend, budget } = placed.agent;
  const figures = [
    `${role}`,
    `${turns} ${turns === 1 ? 'turn' : 'turns'}`,
    ...(queued > 0 ? [`${queued} queued`] : []),
    `$${spend.usd}`,
    ...(budget?.time ? [timeUsedWords(budget.time)] : []),
  ];
  return `${agentMarks[state]} ${treeName(placed).padEnd(width)}  ${state.padEnd(9)}  ${figures.join(', ')}  ${saidBy(placed.agent)}`.trimEnd();
};

/** Agents as a tree, a line each: state, role, turns, queue, cost, and what they say or wait for. */
export const agentLines = (agents: readonly AgentStatus[]): string[] => {
  const placed = treeOf(agents);
  const width = Math.max(4, ...placed.map((each) => treeName(each).length));
  return placed.map((each) => agentLine(each, width));
};

const percentiles = (name: string, told: LatencyPercentiles | null): string[] =>
  told === null
    ? []
    : [
        `${name}: p50 ${told.p50} ms, p90 ${told.p90} ms, p95 ${told.p95} ms, p99 ${told.p99} ms, of ${told.count} turns`,
      ];

export const statsLines = (stats: TeamStats): string[] => [
  `${stats.concurrent} of ${stats.max_concurrent} slots in use, ${stats.queue_depth} in line; ${stats.total_agents} agents: ${
    Object.entries(stats.by_state)
      .flatMap(([state, count]) => (count > 0 ? [`${count} ${state.toLowerCase()}`] : []))
      .join(', ') || 'none'
  }`,
  ...percentiles('latency', stats.latency_ms),
  ...percentiles('wait for a slot', stats.slot_wait_ms),
];

export const contextLines = (info: ContextInfo): string[] => {
  const { stats } = info;
  const named = (label: string, ids: readonly string[]): string[] =>
    ids.length === 0 ? [] : [`${label}: ${ids.join(', ')}`];
  return [
    `${info.agent_id}${info.parent === null ? '' : `, child of ${info.parent}`}${info.has_window ? '' : ', has no window'}`,
    ...(stats
      ? [
          `${stats.used_tokens} tokens of ${stats.limit_tokens ?? 'no limit'}; shared ${stats.base_tokens}, its own ${stats.own_tokens}, ${stats.trimmed_messages} messages trimmed`,
          `messages: ${Object.entries(stats.messages)
            .map(([category, count]) => `${count} ${category}`)
            .join(', ')}`,
        ]
      : []),
    ...named('shares its window with', info.shares_with),
    ...named('children', info.children),
    ...info.notices,
  ];
};

const delegationLine = ({ parent, child, state, background, error }: DelegationStatus): string =>
  `  delegation   ${parent ?? person} to ${child}: ${state.replaceAll('_', ' ')}${background ? ', in the background' : ''}${error ? `: ${headline(error.message, 100)}` : ''}`;

const noAnswer = 'no answer';

/** What a pattern came to, question by question. */
export const patternLines = ({ status, answer, lineage }: PatternAnswer): string[] => [
  ...lineage.map(
    ({ role, handled_by: who, answer: said, error }) =>
      `${error ? '✗' : said === null ? '–' : '✓'} ${role} (${who})  ${error ? `${error.code}: ${headline(error.message, 100)}` : headline(said ?? noAnswer, 100)}`,
  ),
  `★ ${status.toUpperCase().padEnd(9)}  ${Array.isArray(answer) ? `${answer.length} answers` : headline(answer ?? noAnswer, 120)}`,
];

const resultLines = ({ completed, failed, cancelled, agents }: TeamResult): string[] => [
  `★ DONE       ${completed} completed, ${failed} failed, ${cancelled} cancelled`,
  ...agents.map(
    ({ agent_id: id, state, result, error }) =>
      `  ${agentMarks[state]} ${id}: ${error ? `${error.code}: ${headline(error.message, 100)}` : result === null ? state : headline(answerText(result), 100)}`,
  ),
];

const eventLines = ({ event, data }: NumberedTeamEvent, view: TeamView): string[] => {
  switch (event) {
    case 'agent': {
      if (data.state === 'PENDING') return [];
      const below = data.parent === null ? '' : `, child of ${data.parent}`;
      const said = data.state === 'RUNNING' ? '' : (view.agents.get(data.agent_id)?.text ?? '');
      const why = data.error
        ? `: ${data.error.code}: ${headline(data.error.message, 120)}`
        : said === ''
          ? ''
          : `: ${headline(said)}`;
      return [
        `${agentMarks[data.state]} ${data.agent_id} (${data.role}${below}) ${data.state}, turn ${data.turn}${why}`,
      ];
    }
    case 'agent_removed':
      return [`  cleaned up   ${data.agent_id}`];
    case 'message':
      return [
        `  message      ${data.from ?? person} to ${data.to ?? person}${data.channel === null ? '' : ` (${data.channel})`}: ${headline(data.content, 120)}`,
      ];
    case 'delegation':
      return [delegationLine(data)];
    case 'pattern':
      return patternLines(data);
    case 'final':
      return resultLines(data);
    case 'error':
      return [`✗ ERROR      ${data.code}: ${headline(data.message, 200)}`];
    case 'restored':
      return restoredLines(data);
    case 'log':
      return [`  ${data.message}`];
    case 'waiting':
      return data?.for === 'person' ? [`  waiting      for ${data.for}: ${data.detail}`] : [];
    case 'state':
      return data.to === 'PAUSED' || data.from === 'PAUSED'
        ? [`  team         ${data.from} -> ${data.to} (${data.on})`]
        : [];
    case 'feedback_requested':
      return [
        `? ${headline(data.request.prompt, 120)}  (${data.request.request_id}: ${data.request.options.map(({ value }) => value).join(', ')})`,
      ];
    case 'feedback_received':
      return [answeredLine(data.answer, 12)];
    case 'budget':
      return [`  budget       ${data.message}`];
  }
};

/** The first words of each call of each agent's model, told once. */
const createBeginnings = (view: TeamView): ((heard: Heard<NumberedTeamEvent>) => string[]) => {
  const begun = new Set<string>();
  return (heard) => {
    if (heard.type !== 'partial') return [];
    const { lane_id: agentId, attempt } = heard.partial;
    const agent = view.agents.get(agentId);
    const key = `${agentId} ${attempt}`;
    // A few words, not a fragment of one, tell a reader something.
    if (!agent || agent.attempt !== attempt || begun.has(key) || (agent.text.length < 24 && !agent.text.includes('\n')))
      return [];
    begun.add(key);
    return [`  partial      ${agentId}: ${headline(agent.text, 70)}…`];
  };
};

const used = ({ tokens, usd }: { tokens: number; usd: string }): string => `${tokens} tokens and $${usd}`;

/** What people are asked about a budget. */
const askedBudgetLines = ({ spent, needs, elapsed_ms: elapsed }: NonNullable<TeamStatus['asked_budget']>): string[] => [
  ...(elapsed === undefined ? [] : [`    it was at work for ${durationWords(elapsed)}`]),
  `    ${used(spent)} are used; the next call takes up to ${used(needs)}`,
  '    with approve: --max-usd, --max-tokens or --max-seconds, for other limits than those proposed',
];

/** How much of the limits of a team is used. */
const budgetLines = ({ budget }: TeamStatus): string[] => {
  if (!budget) return [];
  const { max_usd: usd, max_tokens: tokens, spent, time, state } = budget;
  const parts = [
    ...(usd === null ? [] : [`$${spent.usd} of $${usd}`]),
    ...(tokens === null ? [] : [`${spent.tokens} of ${tokens} tokens`]),
    ...(time ? [timeUsedWords(time)] : []),
  ];
  return [`budget: ${parts.join(', ')}${state === 'open' ? '' : `; ${state}`}`];
};

/** What people are asked: about a call of a tool, with its arguments as they would be, or about a budget. */
const askedLines = ({ id, feedback, asked_call: call, asked_budget: budget }: TeamStatus): string[] =>
  feedback.flatMap(({ state, request }) =>
    state === 'open'
      ? [
          `? ${headline(request.prompt, 160)}`,
          ...(call?.request_id === request.request_id
            ? [`    ${call.agent_id}: ${call.tool} ${JSON.stringify(call.arguments).slice(0, 400)}`]
            : []),
          ...(budget?.request_id === request.request_id ? askedBudgetLines(budget) : []),
          ...request.options.map(({ value, effect }) => `    ${value}: ${effect}`),
          `  parley team answer ${id} ${request.options.map(({ value }) => value).join('|')}`,
        ]
      : [],
  );

const statusLines = (status: TeamStatus): string[] => [
  `${status.id}  ${status.state}  (${status.lifecycle})  ${status.agents.length} agents${status.keep_open ? (status.closed ? ', closed' : ', kept open') : ''}`,
  ...agentLines(status.agents).map((line) => `  ${line}`),
  ...statsLines(status.stats),
  ...status.delegations.filter(({ state }) => state !== 'completed').map(delegationLine),
  ...askedLines(status),
  ...waitingLines(status),
  ...(status.result ? resultLines(status.result).slice(0, 1) : []),
  ...errorLines(status),
  ...budgetLines(status),
  spentLine(status),
];

/** Teams: the tree of agents, live on a terminal; elsewhere each agent as it moves, what it says, messages and delegations. */
export const teamPresenter: Presenter<'team'> = {
  kind: 'team',
  statusLines,
  watch: (terminal) => {
    const view = emptyTeam();
    const beginnings = createBeginnings(view);
    const screen = terminal ? createScreen((columns, rows) => teamFrame(view, columns, rows), terminal) : null;
    return {
      hear: (heard) => {
        hearTeam(view, heard);
        screen?.update();
        if (screen) return [];
        if (heard.type === 'dropped') return [`… ${heard.message}; connecting again`];
        return heard.type === 'event' ? eventLines(heard.event, view) : beginnings(heard);
      },
      close: () => screen?.close(),
      endLines: ({ id, lifecycle, result }, isLive) => [
        ...(lifecycle === 'cancelled' ? [`team ${id} was cancelled`] : []),
        ...(isLive && result ? resultLines(result) : []),
      ],
    };
  },
};
