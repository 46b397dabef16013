import type { Json } from '../../contracts/frames.js';
import { structureIn } from '../text.js';

/** A completed worker's answer, as fan-in takes it. */
export interface WorkerAnswer {
  taskId: string;
  agentId: string;
  /** Place of the task in the request. */
  order: number;
  /** As JSON where it is JSON, with a fence around it or not; else the text. */
  value: Json;
}

/** An answer as fan-in reads it: text that holds an object or a list is that object or list. */
export const readValue = (answer: Json): Json =>
  typeof answer === 'string' ? (structureIn(answer) ?? answer) : answer;

export type JsonObject = { [name: string]: Json };
export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A member's pointer below `parent` (RFC 6901). */
export const pointerTo = (parent: string, name: string): string =>
  `${parent}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Members and tags by which agents ask for agents of their own (spec 05, 10). */
const spawningMembers = ['fan_out', 'spawn_sub_agent', 'spawn_workers'];
const spawningTags = /<\s*(spawn_sub_agent|spawn_workers)[\s/>]/i;

/** What in an answer asks for workers, or null. Workers do not start workers (details 6.3). */
export const spawnIn = (answer: Json): string | null => {
  const value = readValue(answer);
  if (isObject(value)) return spawningMembers.find((name) => isObject(value[name])) ?? null;
  return typeof value === 'string' ? (spawningTags.exec(value)?.[1]?.toLowerCase() ?? null) : null;
};

export const spawnRefusal = (taskId: string, asked: string): string =>
  `task ${taskId} asked for workers of its own (${asked}); workers do not start workers: hand the wish back in the answer and let whoever started this fan-out start another`;
