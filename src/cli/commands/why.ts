import type { FeedbackRequest } from '../../contracts/feedback.js';
import type { Lifecycle, Waiting } from '../../contracts/work.js';
import { type ClientKind, clientKinds } from '../client.js';
import type { CommandContext } from '../context.js';
import { exitCodes, ProblemError, UsageError } from '../errors.js';
import { timeWords } from '../inbox-lines.js';

/** What every kind's status says of where it stands, as far as this looks at it. */
interface Standing {
  id: string;
  tenant: string;
  state: string;
  lifecycle: Lifecycle;
  waiting: Waiting | null;
  started_at: string;
  ended_at: string | null;
  /** What people are asked, where the kind asks any. */
  feedback?: readonly { state: string; request: FeedbackRequest }[];
  /** Of a team. */
  agents?: readonly { agent_id: string; state?: string }[];
}

interface Next {
  command: string;
  does: string;
}

/** A team whose agents ask nobody waits for whoever lets them go on, or gives them something to do. */
const teamSteps = ({ id, state, agents = [] }: Standing): Next[] => {
  if (state === 'PAUSED') return [{ command: `parley team resume ${id}`, does: 'let it go on where it was' }];
  const paused = agents.filter((agent) => agent.state === 'PAUSED').slice(0, 5);
  if (paused.length > 0)
    return paused.map(({ agent_id: agent }) => ({
      command: `parley team resume ${id} ${agent}`,
      does: `let ${agent} go on`,
    }));
  return [
    { command: `parley team send ${id} ${agents[0]?.agent_id ?? 'AGENT'} TEXT`, does: 'ask an agent' },
    { command: `parley team close ${id}`, does: 'let it end' },
  ];
};

/** What can be done about it, as commands. */
const nextSteps = (kind: ClientKind, status: Standing): Next[] => {
  const { id, lifecycle, waiting, feedback = [] } = status;
  if (lifecycle !== 'running' && lifecycle !== 'waiting') {
    return [
      { command: `parley ${kind} show ${id}`, does: 'how it ended' },
      { command: `parley checkpoints ${id}`, does: 'where it could go on from' },
    ];
  }
  const follow = { command: `parley ${kind} follow ${id}`, does: 'see what it does' };
  const cancel = { command: `parley ${kind} cancel ${id}`, does: 'end it' };
  const asked = feedback.findLast(({ state }) => state === 'open');
  switch (waiting?.for) {
    case 'person':
      if (!asked && waiting.who_can_unblock.includes('parley budget')) {
        const give = {
          command: `parley budget ${status.tenant} --max-tokens N --max-usd N`,
          does: 'give its tenant more',
        };
        return [give, { command: `parley budget ${status.tenant} --stop`, does: 'give it no more' }, follow, cancel];
      }
      if (kind === 'team' && !asked) return [...teamSteps(status), follow, cancel];
      return [
        ...(kind === 'coordinator' && !asked
          ? [
              { command: `parley coordinator report ${id}`, does: 'what its runs ask' },
              { command: `parley coordinator answer ${id} -`, does: 'answer them, a line each' },
            ]
          : []),
        ...(asked?.request.options ?? []).map(({ value, effect }) => ({
          command: `parley inbox answer ${id} ${value}`,
          does: effect,
        })),
        { command: 'parley inbox', does: 'exactly what is asked, of all work' },
        cancel,
      ];
    case 'worker':
      return [{ command: 'parley doctor', does: 'whether a worker is there, and what it lacks' }, follow, cancel];
    case 'provider_limit':
      return [{ command: 'parley providers', does: 'what is used of the limits, and who waits' }, follow, cancel];
    default:
      return [follow, cancel];
  }
};

const lines = (kind: ClientKind, status: Standing, next: readonly Next[], now: number): string[] => {
  const { id, state, lifecycle, waiting, ended_at: endedAt } = status;
  const ago = (at: string): string => timeWords(Math.max(0, now - Date.parse(at)));
  const width = Math.max(...next.map(({ command }) => command.length));
  const steps = next.map(({ command, does }) => `    ${command.padEnd(width)}  ${does}`.trimEnd());
  if (endedAt !== null)
    return [`${kind} ${id} does not wait: it has ended (${lifecycle}, ${state}), ${ago(endedAt)} ago.`, ...steps];
  if (waiting === null) return [`${kind} ${id} does not wait: it is ${state} and moving.`, ...steps];
  return [
    `${kind} ${id} is ${state} and waits for ${waiting.for.replaceAll('_', ' ')}, for ${ago(waiting.since)} (since ${waiting.since}).`,
    `  what         ${waiting.detail}`,
    `  unblocks it  ${waiting.who_can_unblock}`,
    '  what to do',
    ...steps,
  ];
};

/** The status of work of any kind: an id says nothing for sure of its kind, so that the likeliest is asked first. */
const standingOf = async (id: string, { client }: CommandContext): Promise<{ kind: ClientKind; status: Standing }> => {
  const kinds = clientKinds.toSorted((a, b) => Number(id.startsWith(`${b}-`)) - Number(id.startsWith(`${a}-`)));
  for (const kind of kinds) {
    try {
      return { kind, status: await client.status(kind, id) };
    } catch (error) {
      if (!(error instanceof ProblemError) || error.problem.code !== 'not_found') throw error;
    }
  }
  throw new UsageError(`There is no ${kinds.join(', ')} with the id ${id}. See what there is: parley list --all`);
};

/** `parley why ID`: what a piece of work waits for, since when, who can unblock it, and how (spec 08). */
export const explainWaiting = async (id: string, context: CommandContext): Promise<number> => {
  const { kind, status } = await standingOf(id, context);
  const next = nextSteps(kind, status);
  if (context.json) {
    const { state, lifecycle, waiting, ended_at } = status;
    context.out(JSON.stringify({ id, kind, state, lifecycle, waiting, ended_at, next }, null, 2));
  } else context.out(lines(kind, status, next, Date.now()).join('\n'));
  return exitCodes.ok;
};
