import type { FeedbackOption, FeedbackRequest } from '../contracts/feedback.js';
import { feedbackOptions, matchOption } from './feedback.js';

/** A piece of work that an answer may name. */
export interface AskedWork {
  workId: string;
  /** Names it alone where several have one work id; left out: it has no other name. */
  runId?: string | undefined;
  /** What people are asked about it now; null or none: it awaits nothing. */
  requests: readonly FeedbackRequest[] | null;
  /** What it is, in words, for a person who answers it where it awaits nothing. */
  status: string;
}

/** An answer that fits an open request. */
export interface ReadAnswer {
  workId: string;
  /** Of the work that it names; the work id where that has no other name. */
  runId: string;
  requestId: string;
  /** The option's own spelling; the input itself. */
  response: string;
  comment: string | null;
  /** As it was written, where that is not the option's spelling: its number. */
  word?: string;
}

/** An answer that fits none: nothing of it is applied, and what it named is asked again. */
export interface AnswerFault {
  /** null: it names nothing. */
  workId: string | null;
  /** Of the work that it is for, as of an answer; left out: that is not known. */
  runId?: string;
  message: string;
  /** What would have been accepted; none for an input, or where nothing is named. */
  valid: string[];
  /** The work of which one has to be named by its own id, where the given one names several; left out: it is not that. */
  meant?: { workId: string; valid: string[] }[];
}

export interface ReadAnswers {
  answers: ReadAnswer[];
  warnings: string[];
  errors: AnswerFault[];
}

/** What an answer says to one request, or in words why it says nothing to it. */
export type Reply = { response: string; comment: string | null; word?: string } | { fault: string };

/** One answer, wherever it stood. */
export interface AnswerItem {
  /** `line 4`, `item 2`. */
  where: string;
  id: string;
  /** The request that it is meant for; null: whichever is open. */
  requestId: string | null;
  reply: (request: FeedbackRequest) => Reply;
}

/** One item of a list of answers as JSON (spec 06, 10 "Coordinator"). */
export interface ListedAnswer {
  work_id: string;
  response: string;
  comment?: string | undefined;
  /** Refused as stale unless this request is open. */
  request_id?: string | undefined;
}

const maxChars = 20_000;

export const quoted = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}…` : text);
/** A work id as people write it: `#124`, and any other as it is. */
export const shownId = (id: string): string => (/^\d+$/.test(id) ? `#${id}` : id);

const listed = (words: readonly string[]): string =>
  words.length > 8 ? `${words.slice(0, 8).join(', ')} and ${words.length - 8} more` : words.join(', ');

/** The options of a request: its own where it lists any, else those of its type (details 5.2). */
export const optionsOf = ({ type, options }: FeedbackRequest): readonly FeedbackOption[] =>
  options.length > 0 || type === 'input' || type === 'choice' ? options : feedbackOptions(type);

/** The option that a word names: by its value in any case, else by its number in the list, from 1; null: none. */
export const namedOption = (options: readonly FeedbackOption[], word: string): FeedbackOption | null =>
  matchOption(options, word) ?? (/^\d{1,2}$/.test(word) ? (options[Number(word) - 1] ?? null) : null);

export const isAwaiting = ({ requests }: AskedWork): boolean => requests !== null && requests.length > 0;

/** Why a word is no answer to a request, with what would be. */
export const notOffered = (word: string, request: FeedbackRequest, id: string, hint = ''): string => {
  const values = optionsOf(request).map(({ value }) => value);
  const numbers = /^\d+$/.test(word) ? `, or a number from 1 to ${values.length}` : '';
  return `${quoted(word)} is not offered for ${shownId(id)}; choose ${values.join(', ')}${numbers}.${hint}`;
};

/** A reply within its limits: at most 20,000 characters each of response and comment. */
export const within = (response: string, comment: string | null): Reply => {
  const long = response.length > maxChars ? 'response' : (comment?.length ?? 0) > maxChars ? 'comment' : null;
  const given = long === 'response' ? response.length : (comment?.length ?? 0);
  return long === null
    ? { response, comment }
    : { fault: `the ${long} has ${given} characters; at most ${maxChars} are taken.` };
};

interface Target {
  work: AskedWork;
  request: FeedbackRequest;
}
type Found =
  | { target: Target }
  | { warning: string }
  /** `may`: what an ambiguous name may mean, in words; left out: it is not that. */
  | { fault: AnswerFault; may?: string };

const byId = (open: readonly AskedWork[]): Map<string, AskedWork[]> => {
  const named = new Map<string, AskedWork[]>();
  const add = (id: string, work: AskedWork): void => {
    const others = named.get(id);
    if (!others) named.set(id, [work]);
    else if (!others.includes(work)) others.push(work);
  };
  for (const work of open) {
    add(work.workId, work);
    if (work.runId !== undefined) add(work.runId, work);
  }
  return named;
};

/** The one open request that an item means. */
const find = ({ where, id, requestId }: AnswerItem, named: Map<string, AskedWork[]>): Found => {
  const works = named.get(id) ?? [];
  const [first] = works;
  if (!first) return { warning: `${where}: nothing here has the id ${shownId(id)}; skipped.` };
  const targets = works.flatMap((work) => (work.requests ?? []).map((request): Target => ({ work, request })));
  const [only] = targets;
  if (!only) {
    return { warning: `${where}: ${shownId(id)} takes no answer now: it is ${first.status}; skipped.` };
  }
  const workId = first.workId;
  if (requestId !== null) {
    const target = targets.find(({ request }) => request.request_id === requestId);
    if (target) return { target };
    const open = targets.map(({ request }) => request.request_id);
    const message = `${where}: ${quoted(requestId)} is not open for ${shownId(id)}; open is ${listed(open)}. Look at it and answer that.`;
    return { fault: { workId, message, valid: open } };
  }
  if (targets.length === 1) return { target: only };
  const may = `${where}: ${shownId(id)} may mean ${targets.length} open requests`;
  const names = [...new Set(targets.map(({ work }) => work.runId ?? work.workId))];
  if (names.length === 1) {
    const valid = targets.map(({ request }) => request.request_id);
    return {
      fault: { workId, message: `${may}; answer as JSON with one of the request ids: ${listed(valid)}.`, valid },
    };
  }
  const meant = targets.map(({ work, request }) => ({
    workId: work.runId ?? work.workId,
    valid: optionsOf(request).map(({ value }) => value),
  }));
  return {
    fault: { workId, message: `${may}; answer with one of their own ids: ${listed(names)}.`, valid: names, meant },
    may,
  };
};

/**
 * A name of several as the fault that is left of it, where some of them are answered by their own ids beside it; a warning
 * where all are, as nothing is asked again that has been answered.
 */
const leftOf = (fault: AnswerFault, may: string, answered: ReadonlySet<string>): AnswerFault | string => {
  const { meant = [] } = fault;
  const left = meant.filter(({ workId }) => !answered.has(workId));
  if (left.length === meant.length) return fault;
  if (left.length === 0) return `${may}; each is answered by its own id here, and this counts for none.`;
  const valid = [...new Set(left.map(({ workId }) => workId))];
  return {
    ...fault,
    message: `${may}; some are answered by their own ids here: answer the others so, too: ${listed(valid)}.`,
    valid,
    meant: left,
  };
};

interface Settled {
  where: string;
  answer: ReadAnswer;
}

/**
 * What a list of answers says, one by one (details 5.3): of several for one request the last valid one counts, with a warning,
 * and an invalid one does not undo it. What nothing here is named by, and what awaits nothing, is skipped with a warning.
 */
export const settleAnswers = (items: readonly AnswerItem[], open: readonly AskedWork[]): ReadAnswers => {
  const named = byId(open);
  const settled = new Map<string, Settled>();
  const faults: { key: string | null; fault: AnswerFault; may?: string | undefined }[] = [];
  const warnings: string[] = [];
  for (const item of items) {
    const found = find(item, named);
    if ('warning' in found) {
      warnings.push(found.warning);
      continue;
    }
    if ('fault' in found) {
      faults.push({ key: null, ...found });
      continue;
    }
    const { work, request } = found.target;
    const { workId, runId = workId } = work;
    const key = `${runId}\n${request.request_id}`;
    const reply = item.reply(request);
    if ('fault' in reply) {
      const valid = optionsOf(request).map(({ value }) => value);
      faults.push({ key, fault: { workId, runId, message: `${item.where}: ${reply.fault}`, valid } });
      continue;
    }
    const before = settled.get(key);
    if (before) {
      const id = shownId(item.id);
      warnings.push(
        `${item.where}: a second answer for ${id}; it counts in place of ${quoted(before.answer.response)} in ${before.where}.`,
      );
    }
    settled.set(key, { where: item.where, answer: { workId, runId, requestId: request.request_id, ...reply } });
  }
  const errors: AnswerFault[] = [];
  const answered = new Set([...settled.values()].map(({ answer }) => answer.runId));
  for (const { key, fault, may } of faults) {
    if (may !== undefined) {
      const left = leftOf(fault, may, answered);
      if (typeof left === 'string') warnings.push(left);
      else errors.push(left);
      continue;
    }
    const valid = key === null ? undefined : settled.get(key);
    if (valid) warnings.push(`${fault.message} ${quoted(valid.answer.response)} in ${valid.where} counts.`);
    else errors.push(fault);
  }
  return { answers: [...settled.values()].map(({ answer }) => answer), warnings, errors };
};

/** What a list of answers as JSON says: the same rules as for text (spec 06), and any work id. */
export const parseAnswerList = (list: readonly ListedAnswer[], open: readonly AskedWork[]): ReadAnswers =>
  settleAnswers(
    list.map((listedAnswer, index): AnswerItem => {
      const { work_id: id, response, comment, request_id: requestId } = listedAnswer;
      const word = response.trim();
      const said = comment === undefined || comment.trim() === '' ? null : comment;
      return {
        where: `item ${index + 1}`,
        id,
        requestId: requestId ?? null,
        reply: (request) => {
          if (word === '') return { fault: `the response for ${shownId(id)} is empty.` };
          if (request.type === 'input') return within(word, said);
          const option = namedOption(optionsOf(request), word);
          return option ? within(option.value, said) : { fault: notOffered(word, request, id) };
        },
      };
    }),
    open,
  );
