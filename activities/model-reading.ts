import { z } from 'zod';
import { checkAgentCommand } from '../src/agent-commands.js';
import type { Adapter } from '../src/contracts/adapter.js';
import type { Json } from '../src/contracts/frames.js';
import { readAnswer, readTaggedAnswer, type Reading } from '../src/domain/agent/reading.js';
import { readValue } from '../src/domain/fan-out/answers.js';
import { answerText } from '../src/domain/text.js';
import type { Answered } from './ask.js';
import { mend } from './mend.js';
import type { Offered } from './offered-tools.js';

/** Whose answer it is, and what it has to be. */
export interface Answerer {
  adapter: Adapter;
  /** Its calls are named by it. */
  answerId: string;
  subagentsEnabled: boolean;
  /** JSON Schema of an answer that asks for nothing; null: any will do. */
  schema: Record<string, Json> | null;
}

/** Who is asked with one text, and so calls tools by tags alone. */
export const takesText = ({ kind }: Adapter): boolean =>
  kind !== 'scripted' && kind !== 'openai-compatible' && kind !== 'openai' && kind !== 'anthropic';

/** Text as the JSON that it is, be that a number or a word; undefined: it is none. */
const plainValue = (answer: Json): Json | undefined => {
  if (typeof answer !== 'string') return undefined;
  try {
    return JSON.parse(answer) as Json;
  } catch {
    return undefined; // What a model said is no error: its text is looked at as text.
  }
};

/** The value of an answer that fits, or in words for the model what does not. */
const fitting = (answer: Json, schema: Record<string, Json>): { value: Json } | { misfit: string } => {
  const wanted = z.fromJSONSchema(schema);
  const value = readValue(answer);
  const checked = wanted.safeParse(value);
  if (checked.success) return { value };
  const plain = plainValue(answer);
  if (plain !== undefined && wanted.safeParse(plain).success) return { value: plain };
  const faults = checked.error.issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`);
  return {
    misfit: `your answer does not fit state.schema of your template: ${faults.slice(0, 20).join('; ')}. Answer again with JSON alone that fits`,
  };
};

/**
 * Reads a model's answer: what it asks for, or else what it is worth. `answer` null: what was said as text. What does not fit the
 * schema is told to the model like anything else that it got wrong.
 */
export const readModelAnswer = (
  { adapter, answerId, subagentsEnabled, schema }: Answerer,
  { answer, calls = [] }: Answered,
  { allowed, others }: Offered,
): { reading: Reading; answer: Json } => {
  const registry = { check: checkAgentCommand, mend, subagentsEnabled, allowed };
  const isText = typeof answer === 'string';
  const text = isText ? answer : '';
  const read = takesText(adapter)
    ? readTaggedAnswer(text, answerId, registry, others)
    : readAnswer({ text, calls }, answerId, registry, others);
  const reading = isText ? read : { ...read, text: answerText(answer) };
  if (reading.actions.length > 0 || reading.faults.length > 0) return { reading, answer: null };
  if (schema === null) return { reading, answer: isText ? null : answer };
  const fit = fitting(answer, schema);
  if ('value' in fit) return { reading, answer: typeof fit.value === 'string' ? null : fit.value };
  const fault = { tool: null, code: 'invalid_answer' as const, message: fit.misfit };
  return { reading: { ...reading, faults: [{ callId: null, fault }] }, answer: null };
};
