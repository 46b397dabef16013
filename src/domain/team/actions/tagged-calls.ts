import type { Json } from '../../../contracts/frames.js';
import type { Mend } from '../../model-json.js';
import type { ModelCall } from '../model-call.js';
import { type ActionFault, maxActions } from './registry.js';
import { tagArguments } from './tag-arguments.js';
import { TagReader } from './tag-reader.js';
import { type TagTool, tagTokensOf } from './tag-tokens.js';
import { maxCharacters, without } from './tags.js';
import { toolOfTag } from './tools.js';

/** What the action tags of an agent come to that can make no function calls. */
export interface TaggedCalls {
  calls: ModelCall[];
  faults: ActionFault[];
  /** The answer without the tags that are calls. */
  text: string;
}

/**
 * Reads an answer in which every tool may be called by its tag, as the agent takes and gives text alone (a program, say). The tags are
 * read as those of a model are; whether the agent may call the tool, and with these arguments, is looked at as with any call.
 */
export const taggedCalls = (answer: string, tools: readonly string[], mend: Mend): TaggedCalls => {
  const others = new Map(tools.map((name): [string, TagTool] => [name, { name, tagText: null }]));
  const text = answer.slice(0, maxCharacters);
  const reader = new TagReader<TagTool>(
    text,
    tagTokensOf(text, (name) => toolOfTag(name) ?? others.get(name)),
  );
  const calls: ModelCall[] = [];
  const faults: ActionFault[] = [];
  const spans: [number, number][] = [];
  let unread = 0;
  for (let token = reader.next(); token; token = reader.next()) {
    const { tool, start } = token;
    const line = reader.lineOf(start);
    const found = reader.read(token);
    reader.goOn(found.end);
    if (calls.length + faults.length >= maxActions) {
      unread += 1;
      continue;
    }
    const read =
      found.kind === 'malformed' ? { malformed: found.why } : tagArguments(tool, found.attributes, found.body, mend);
    if ('malformed' in read) {
      const message = `<${tool.name}> in line ${line} was not carried out: ${read.malformed}`;
      faults.push({ tool: tool.name, code: 'malformed', message });
      continue;
    }
    calls.push({ callId: `tag-${calls.length + 1}`, name: tool.name, arguments: read.given as Json });
    spans.push([start, found.end]);
  }
  if (unread > 0) {
    const message = `${unread} more tags were not carried out: an answer may hold at most ${maxActions}`;
    faults.push({ tool: null, code: 'too_many', message });
  }
  return { calls, faults, text: without(answer, spans) };
};
