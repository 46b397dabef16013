import type { AgentCommand } from '../../../contracts/agent-tools.js';
import { type ActionFault, type ActionRegistry, checked, maxActions } from './registry.js';
import { tagArguments } from './tag-arguments.js';
import { TagReader } from './tag-reader.js';
import { tagTokens } from './tag-tokens.js';
import { tagNames } from './tools.js';

/** What the action tags of a model's answer come to. */
export interface TagReading {
  commands: AgentCommand[];
  faults: ActionFault[];
  /** Tags that stand in code: shown, not meant. */
  quoted: number;
  /** The answer without the tags that were carried out. */
  text: string;
}

/** More of an answer is not looked at. */
export const maxCharacters = 4_000_000;
/**
 * Reads the action tags of a text (spec 05, details 3.2): tolerant of case, attributes, fences, entities and nearly-JSON within a
 * tag, in linear time. What is malformed is reported in words for the model, and hides no tag after it.
 */
export const readTags = (answer: string, registry: ActionRegistry): TagReading => {
  const text = answer.slice(0, maxCharacters);
  const reader = new TagReader(text, tagTokens(text));
  const commands: AgentCommand[] = [];
  const faults: ActionFault[] = [];
  const spans: [number, number][] = [];
  let unread = 0;
  for (let token = reader.next(); token; token = reader.next()) {
    const { tool, start } = token;
    const line = (): string => `in line ${reader.lineOf(start)}`;
    const found = tool.tagText === null ? null : reader.read(token);
    reader.goOn(found?.end ?? token.end);
    if (commands.length + faults.length >= maxActions) {
      unread += 1;
      continue;
    }
    if (!found) {
      const message = `<${tool.name}> ${line()} is no action tag; call ${tool.name} as a function. Action tags are ${tagNames.join(', ')}`;
      faults.push({ tool: tool.name, code: 'unknown_tool', message });
      continue;
    }
    const read =
      found.kind === 'malformed'
        ? { malformed: found.why }
        : tagArguments(tool, found.attributes, found.body, registry.mend);
    if ('malformed' in read) {
      faults.push({
        tool: tool.name,
        code: 'malformed',
        message: `<${tool.name}> ${line()} was not carried out: ${read.malformed}`,
      });
      continue;
    }
    const outcome = checked(registry, tool.name, read.given);
    if ('fault' in outcome) {
      faults.push(outcome.fault);
      continue;
    }
    commands.push(outcome.command);
    spans.push([start, found.end]);
  }
  if (unread > 0) {
    const message = `${unread} more tags were not carried out: an answer may hold at most ${maxActions}`;
    faults.push({ tool: null, code: 'too_many', message });
  }
  if (answer.length > text.length) {
    const message = `the answer was read up to ${maxCharacters} of its ${answer.length} characters`;
    faults.push({ tool: null, code: 'too_many', message });
  }
  return { commands, faults, quoted: reader.quoted, text: without(answer, spans) };
};

/** A text without some of its parts, which come in their order. */
export const without = (text: string, spans: readonly [number, number][]): string => {
  const pieces: string[] = [];
  let from = 0;
  for (const [start, end] of spans) {
    pieces.push(text.slice(from, start));
    from = end;
  }
  return [...pieces, text.slice(from)].join('').trim();
};
