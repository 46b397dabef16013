import type { Json } from '../../contracts/frames.js';
import { canonicalJson } from '../canonical-json.js';
import type { NewMessage } from '../team/context/message.js';

/** An answer of a tool as a model is told it. */
export const resultText = (answer: Json): string => (typeof answer === 'string' ? answer : canonicalJson(answer));

const missing = { status: 'error', code: 'not_carried_out', message: 'the turn ended before this was carried out' };

/**
 * What a turn wrote, with a result for each call, in the order of the calls, whoever was first: one without would stand in the context
 * for ever. `answers`: by call.
 */
export const closed = (wrote: readonly NewMessage[], answers: ReadonlyMap<string, Json>): NewMessage[] => {
  const answered = new Set(wrote.flatMap(({ resultOf }) => resultOf ?? []));
  return wrote.flatMap((message) => [
    message,
    ...(message.calls ?? [])
      .filter((callId) => !answered.has(callId))
      .map((callId): NewMessage => {
        return { role: 'tool', resultOf: callId, content: resultText(answers.get(callId) ?? missing) };
      }),
  ]);
};
