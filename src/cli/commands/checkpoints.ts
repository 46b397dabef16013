import type { Checkpoint, CheckpointItem, CheckpointList, RestoreItem } from '../../contracts/checkpoint.js';
import { type ClientKind, clientKinds } from '../client.js';
import type { CommandContext } from '../context.js';
import { exitCodes, ProblemError, UsageError } from '../errors.js';
import { headline, percent } from '../lines.js';

/** An id says nothing for sure of its kind: each is asked, the one that the id begins with first. */
export const found = async (id: string, { client }: CommandContext): Promise<{ kind: ClientKind } & CheckpointList> => {
  const kinds = clientKinds.toSorted((a, b) => Number(id.startsWith(`${b}-`)) - Number(id.startsWith(`${a}-`)));
  for (const kind of kinds) {
    try {
      return { kind, ...(await client.checkpoints(kind, id)) };
    } catch (error) {
      if (!(error instanceof ProblemError) || error.problem.code !== 'not_found') throw error;
    }
  }
  throw new UsageError(`There is no ${kinds.join(', ')} with the id ${id}. See what there is: parley list --all`);
};

const line = (item: CheckpointItem): string =>
  [
    `CP-${item.sequence_num}`.padEnd(6),
    item.created_at.slice(11, 23),
    item.agent_id.padEnd(20),
    item.phase.padEnd(16),
    item.trigger.padEnd(11),
    `event ${item.event_id}`,
  ].join('  ');

const restoreLine = ({ checkpoint, reason, by, at }: RestoreItem): string =>
  `↺ CP-${checkpoint}`.padEnd(8) + `${at.slice(11, 23)}  restored by ${by}: ${headline(reason, 100)}`;

/** `parley checkpoints ID`: its named points, oldest first. */
export const listCheckpoints = async (id: string, context: CommandContext): Promise<number> => {
  const { items, restores } = await found(id, context);
  if (context.json) context.out(JSON.stringify({ items, restores }, null, 2));
  else if (items.length === 0) context.out('None: it began before there were checkpoints and has passed none since.');
  else for (const text of [...items.map(line), ...restores.map(restoreLine)]) context.out(text);
  return exitCodes.ok;
};

/** Temporal's Web UI shows these words as Markdown; a terminal does not. */
const plain = (markdown: string): string => markdown.replace(/\*\*|\\(?=[^\w\s])/g, '');

const lines = (checkpoint: Checkpoint): string[] => {
  const { session_context: handed, outputs, errors } = checkpoint.state;
  const state = typeof outputs['state'] === 'string' ? outputs['state'] : '';
  const { key_findings, open_questions, blockers, confidence } = handed.payload;
  return [
    line(checkpoint),
    `  state       ${state}`,
    `  confidence  ${percent(confidence)}`,
    ...key_findings.flatMap((text) => plain(text).split('\n')).map((text) => `  ${text}`.trimEnd()),
    ...open_questions.map((text) => `  asks        ${headline(text, 200)}`),
    ...blockers.map((text) => `  blocked     ${headline(text, 200)}`),
    ...errors.map(({ agent, error }) => `  error       ${agent}: ${headline(error, 200)}`),
  ];
};

/** `parley checkpoint show ID N`: the state at that point; --json has all of it. */
export const showCheckpoint = async (id: string, number: string, context: CommandContext): Promise<number> => {
  const { kind } = await found(id, context);
  const checkpoint = await context.client.checkpoint(kind, id, number);
  context.out(context.json ? JSON.stringify(checkpoint, null, 2) : lines(checkpoint).join('\n'));
  return exitCodes.ok;
};
