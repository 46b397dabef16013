import { writeFile } from 'node:fs/promises';
import { type OpenExport, redactionRulesSchema } from '../../contracts/export.js';
import { ParleyError } from '../../domain/errors.js';
import { reportLines, storyLines } from '../../domain/export/lines.js';
import { replayReport } from '../../domain/export/report.js';
import { retold } from '../../domain/export/retold.js';
import { secretsRule } from '../../domain/export/secrets.js';
import { redacted } from '../../domain/export/redaction.js';
import { exportPieces, sealed } from '../../export-file.js';
import { collectionOf } from '../../links.js';
import { parseWhole } from '../../parse.js';
import { type ClientKind, clientKinds, type ParleyClient } from '../client.js';
import type { CommandContext } from '../context.js';
import { exitCodes, ProblemError, UsageError } from '../errors.js';
import { exportFrom, loadReplayer, textOf } from '../replayer.js';

export const exportFormats = ['json', 'text'] as const;

export interface ExportRunOptions {
  output?: string;
  redact?: string;
  format?: (typeof exportFormats)[number];
  bundle?: string;
}

/** One piece of work's export as the gateway writes it. */
const exportTextOf = async (client: ParleyClient, kind: ClientKind, id: string): Promise<string> =>
  await (await client.open(`/v1/${collectionOf(kind)}/${encodeURIComponent(id)}/export`)).text();

/** An id says nothing for sure of its kind: each is asked, the one that the id begins with first. */
const found = async (id: string, client: ParleyClient): Promise<string> => {
  const kinds = clientKinds.toSorted((a, b) => Number(id.startsWith(`${b}-`)) - Number(id.startsWith(`${a}-`)));
  for (const kind of kinds) {
    try {
      return await exportTextOf(client, kind, id);
    } catch (error) {
      if (!(error instanceof ProblemError) || error.problem.code !== 'not_found') throw error;
    }
  }
  throw new UsageError(`There is no ${kinds.join(', ')} with the id ${id}. See what there is: parley list --all`);
};

/** A document with a file's rules applied. @throws UsageError naming every fault of the rules */
const withRules = async (document: OpenExport, path: string, context: CommandContext): Promise<OpenExport> => {
  const example = '[{"pointer":"/request/prompt"},{"key":"email"},{"pattern":"[0-9]{16}","replace":"[card]"}]';
  let rules: unknown;
  try {
    rules = JSON.parse(await textOf(path, context.readStdin));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path} is no JSON: ${(error as Error).message}. Rules look like this: ${example}`);
  }
  const parsed = parseWhole(redactionRulesSchema, rules);
  if (!parsed.ok) {
    const faults = parsed.faults.map(({ path: place, message }) => `  ${place || '(all of it)'}: ${message}`);
    throw new UsageError([`${path} is no list of rules such as ${example}:`, ...faults].join('\n'));
  }
  try {
    return redacted(document, parsed.value);
  } catch (error) {
    if (error instanceof ParleyError) throw new UsageError(`${path} cannot be applied: ${error.message}`);
    throw error;
  }
};

/**
 * What was taken out may change what happens: that is said at once, not when the file is replayed. Where only values that are
 * computed from the texts changed (digests, estimates), the file tells those that its replay comes to.
 */
const checkedRules = async (
  document: OpenExport,
  { bundle }: ExportRunOptions,
  context: CommandContext,
): Promise<OpenExport> => {
  for (const { rule, count } of document.redactions)
    if (count === 0 && rule !== secretsRule) context.note(`  nothing to take out by ${rule}`);
  const replayed = await (await loadReplayer(bundle)).replay(document);
  const report = replayReport(document, replayed, 'all');
  if (report.same) return document;
  const told = retold(document, replayed, report);
  if (told !== null) {
    context.note(
      '  Values that are computed from what was taken out (digests, estimates) are told as the file replays.',
    );
    return told;
  }
  context.note('The rules change what is decided: this file does not replay to what was recorded.');
  for (const line of reportLines(report)) context.note(line);
  return document;
};

/** `parley export run ID`: a piece of work as a document that `parley replay` reads, or, as text, what a person wants to see of it. */
export const exportRun = async (id: string, options: ExportRunOptions, context: CommandContext): Promise<number> => {
  const { output, redact, format = 'json' } = options;
  const text = await found(id, context.client);
  let { document } = exportFrom(`the export of ${id}`, text);
  if (redact !== undefined) {
    document = await withRules(document, redact, context);
    document = await checkedRules(document, options, context);
  }
  const content = format === 'text' ? `${storyLines(document).join('\n')}\n` : exportPieces(sealed(document)).join('');
  if (output === undefined) {
    context.out(content.trimEnd());
    return exitCodes.ok;
  }
  try {
    await writeFile(output, content, { mode: 0o600 });
  } catch (error) {
    throw new UsageError(`${output} cannot be written: ${(error as Error).message}`);
  }
  const { kind, lifecycle, redactions, runs } = document;
  const taken = redactions.map(({ rule, count }) => ({ rule, count }));
  const events = runs.reduce((sum, { history }) => sum + history.events.length, 0);
  if (context.json) context.out(JSON.stringify({ output, id, kind, lifecycle, events, redactions: taken }, null, 2));
  else {
    context.out(`${kind} ${id} (${lifecycle}, ${events} events) in ${output}`);
    for (const { rule, count } of taken) context.note(`  taken out ${count} times: ${rule}`);
    if (format === 'json') context.note(`  parley replay ${output}    replay it`);
  }
  return exitCodes.ok;
};
