// A team in words.
import { describeCommon, headline, oneLine, sentence, words } from './model.js';
import { counted, timeUsedWords } from './units.js';

const named = 3;

export const titleOf = ({ agents }) => {
  if (agents.length === 0) return 'A team without agents yet';
  const names = agents.slice(0, named).map(({ agent_id: id }) => id);
  const more = agents.length > named ? ` and ${agents.length - named} more` : '';
  return `${counted(agents.length, 'agent')}: ${names.join(', ')}${more}`;
};

export const person = 'a person';

const now = { PAUSED: 'Paused', COMPLETED: 'All agents have ended', FAILED: 'Failed', CANCELLED: 'Cancelled' };

/** What goes on, in a sentence. */
export const nowWords = ({ state, agents, status }) => {
  if (state !== 'OPEN') return now[state];
  const all = [...agents.values()];
  const running = all.filter((agent) => agent.state === 'RUNNING').length;
  const paused = all.filter((agent) => agent.state === 'PAUSED').length;
  if (running > 0) return running === 1 ? '1 agent runs' : `${running} agents run`;
  if (paused > 0) return paused === 1 ? '1 agent is paused' : `${paused} agents are paused`;
  return status?.waiting?.for === 'person' ? 'Nobody has anything to do' : 'It begins';
};

const limitWords = ({ max_usd: usd, max_tokens: tokens, spent, time }) =>
  [
    usd !== null && `$${spent.usd} of $${usd}`,
    tokens !== null && `${spent.tokens.toLocaleString('en')} of ${tokens.toLocaleString('en')} tokens`,
    time && timeUsedWords(time),
  ]
    .filter(Boolean)
    .join(', ');

/** How much of a budget is used, and what has come of that: {used, warning}; null: there is none. */
export const budgetWords = (budget) => {
  if (!budget) return null;
  const { steps, state, cheaper_model: model } = budget;
  const said = [
    state === 'stopped' && 'Stopped: calls of models are refused.',
    state === 'asking' && 'The next call does not fit, and a person is asked for more.',
    state === 'open' && steps.includes('stop') && 'Used up: calls of models are refused.',
    state === 'open' && !steps.includes('stop') && steps.includes('warn') && 'Nearly used up.',
    state !== 'stopped' && steps.includes('cheaper_model') && model && `Hosted agents are asked with ${model}.`,
  ];
  return { used: limitWords(budget), warning: said.filter(Boolean).join(' ') || null };
};

/** How many agents ended how. */
export const resultWords = ({ completed, failed, cancelled }) =>
  [
    [completed, 'completed'],
    [failed, 'failed'],
    [cancelled, 'cancelled'],
  ]
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count} ${name}`)
    .join(', ');

/** What a screen reader is told: where the team stands, never single agents. */
export const announcement = (model) => {
  const { result, error, state, status } = model;
  if (error) return `The team failed: ${headline(error.message)}`;
  if (result) return `All agents have ended: ${resultWords(result)}.`;
  if (state !== 'OPEN') return `${now[state]}.`;
  return status === null ? '' : `The team works, ${counted(status.agents.length, 'agent')} in all.`;
};

/** Who said or gave what to whom: {who, what, text}; null: it is nothing of that kind. */
export const talkWords = ({ event, data }) => {
  switch (event) {
    case 'message': {
      const channel = data.channel === null ? '' : `, ${data.channel}`;
      return { who: `${data.from ?? person} → ${data.to ?? person}`, what: `message${channel}`, text: data.content };
    }
    case 'delegation': {
      const { parent, child, state, background, error } = data;
      const where = background ? ', in the background' : '';
      return {
        who: `${parent ?? person} ⇢ ${child}`,
        what: `delegation${where}`,
        text: error?.message ?? words(state),
      };
    }
    case 'pattern': {
      const roles = data.lineage.map(({ role, handled_by: by }) => `${role} (${by})`);
      return { who: roles.join(' → '), what: `pattern, ${words(data.status)}`, text: data.answer ?? '' };
    }
    default:
      return null;
  }
};

/** A durable event in words, for the timeline: [kind, sentence]. */
export const describeEvent = (told) => {
  const { event, data } = told;
  const talk = talkWords(told);
  if (talk) return [event, `${talk.who}: ${oneLine(talk.text)}`];
  switch (event) {
    case 'state':
      return ['state', `${words(data.from)} → ${words(data.to)} (${words(data.on)})`];
    case 'agent': {
      const why = data.error ? `: ${headline(data.error.message)}` : '';
      return ['agent', `${data.agent_id} ${words(data.state)}${data.turn > 0 ? `, turn ${data.turn}` : ''}${why}`];
    }
    case 'agent_removed':
      return ['agent', `${data.agent_id} was cleaned up`];
    case 'final':
      return ['final', sentence(resultWords(data) || 'without agents')];
    case 'budget':
      return ['budget', data.message];
    default:
      return describeCommon(told);
  }
};
