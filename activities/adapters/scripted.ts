import type { ScriptedAdapter, ScriptEntry } from '../../src/contracts/adapter.js';
import type { Json, Usage } from '../../src/contracts/frames.js';
import { approximateTokens } from '../../src/domain/budget.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { ModelCall } from '../../src/domain/team/model-call.js';
import type { AgentFrame, AgentRequest } from '../ports.js';
import { scriptedCalls } from './scripted-calls.js';
import { type Clock, untilAborted, waitUntil } from './clock.js';
import { type Call, frameStream } from './frame-stream.js';
import {
  callOfScript,
  createScriptNumbering,
  failOfScript,
  messageOfDispatchError,
  partialOf,
  type TimedEntry,
  timelineOf,
} from './script-timeline.js';

/** Both readers of a call step over its entries in one go; so many take some tens of milliseconds. */
const mostEntriesPerCall = 1_000_000;

type Timeline = Generator<TimedEntry, void, undefined>;

/** Says control entries at their time, heard or not: a READY behind a PAUSE must come while nobody pulls data. */
const startControls = (
  entries: Timeline,
  call: Call,
  at: (entry: TimedEntry) => number,
  clock: Clock,
): { sayUpTo: (index: number) => void; stop: () => void } => {
  let forget = (): void => {};
  const findNext = (): TimedEntry | null => {
    for (let next = entries.next(); next.done !== true; next = entries.next()) {
      if (next.value.entry.control !== undefined) return next.value;
    }
    return null;
  };
  let waiting = findNext();
  const say = (isDue: (entry: TimedEntry) => boolean): void => {
    forget();
    while (waiting?.entry.control !== undefined && isDue(waiting)) {
      const { status, window } = waiting.entry.control;
      waiting = findNext();
      call.onControl({ type: 'control', status, ...(window === undefined ? {} : { window }) });
    }
    if (waiting !== null) forget = clock.after(at(waiting) - clock.now(), sayDue);
  };
  const sayDue = (): void => say((entry) => at(entry) <= clock.now());
  say(() => false);
  return {
    // Data never overtakes what the script says before it, however late its timer is.
    sayUpTo: (index) => say((entry) => entry.index < index),
    stop: () => {
      waiting = null;
      forget();
    },
  };
};

/**
 * Plays one call of a script (spec 10 "scripted"). Times count from the call's start and go on while nobody pulls; data
 * is given in order, each entry when its time has come and it is pulled. Noise is drawn from the adapter's seed, the
 * lane's diversity seed and the number of the call. A call without final, fail or dispatch_err falls silent after its
 * last entry until it is aborted: a slow agent. Usage left out is estimated, at no money. Where the request has tools, a
 * final with `tool_calls` calls them; elsewhere it is an answer like any other.
 * @throws ParleyError EAGENTDOWN when dispatch_err is the first data entry; behind partials it is a `fail` frame.
 * @throws ParleyError EPROTO when one call would play more than a million entries, repeats counted.
 */
export const openScripted = async (
  adapter: ScriptedAdapter,
  request: AgentRequest,
  call: Call,
  clock: Clock,
): Promise<AsyncIterable<AgentFrame>> => {
  const entries = callOfScript(adapter.script, request.callsBefore);
  const count = entries.reduce((sum, { times }) => sum + times, 0);
  if (count > mostEntriesPerCall) {
    throw new ParleyError(
      'EPROTO',
      `a call of this script plays ${count} entries with their repeats; at most ${mostEntriesPerCall} are allowed`,
    );
  }
  const noise = {
    jitterMs: adapter.jitter_ms ?? 0,
    seed: ['scripted', adapter.seed ?? 0, request.diversitySeed, request.callsBefore],
  };
  const startedAt = clock.now();
  const at = ({ atMs }: TimedEntry): number => startedAt + atMs;
  const controls = startControls(timelineOf(entries, noise), call, at, clock);
  call.signal.addEventListener('abort', controls.stop, { once: true });

  const refusal = firstData(timelineOf(entries, noise));
  if (refusal?.entry.dispatch_err !== undefined) {
    await waitUntil(clock, at(refusal), call.signal);
    controls.sayUpTo(refusal.index);
    controls.stop();
    throw new ParleyError('EAGENTDOWN', messageOfDispatchError(refusal.entry.dispatch_err), { retryable: true });
  }
  return frameStream(call, play());

  async function* play(): AsyncGenerator<AgentFrame, void, undefined> {
    const number = createScriptNumbering();
    let text = '';
    let said: Usage | null = null;
    const account = (entry: ScriptEntry): Usage => {
      said = entry.usage ?? said;
      const usage = said ?? { tokens: approximateTokens(request.prompt) + approximateTokens(text), usd: 0 };
      call.onUsage(usage);
      return usage;
    };
    try {
      for (const timed of timelineOf(entries, noise)) {
        const { entry } = timed;
        if (entry.control !== undefined) continue;
        await waitUntil(clock, at(timed), call.signal);
        if (call.signal.aborted) return;
        controls.sayUpTo(timed.index);
        if (entry.partial !== undefined) {
          text += entry.partial;
          account(entry);
          yield partialOf({ ...entry, partial: entry.partial }, number(entry));
          if (call.signal.aborted) return;
        } else if (entry.final !== undefined) {
          const answer = answerOf(entry.final, request);
          text = answer.text ?? (answer.calls ? text : JSON.stringify(entry.final));
          yield { type: 'final', msg_seq: number(entry).msgSeq, ...answer, usage: account(entry) };
          return;
        } else {
          account(entry);
          const fail = entry.fail ?? {
            code: 'EAGENTDOWN',
            message: messageOfDispatchError(entry.dispatch_err ?? true),
            retryable: true,
          };
          yield failOfScript(fail, entry.msg_seq);
          return;
        }
      }
      await untilAborted(call.signal);
    } finally {
      controls.stop();
    }
  }
};

const answerOf = (final: Json, { tools }: AgentRequest): { text?: string; json?: Json; calls?: ModelCall[] } => {
  if (typeof final === 'string') return { text: final };
  return (tools && scriptedCalls(final)) ?? { json: final };
};

const firstData = (entries: Timeline): TimedEntry | null => {
  for (const timed of entries) if (timed.entry.control === undefined) return timed;
  return null;
};
