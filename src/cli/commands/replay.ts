import type { OpenExport } from '../../contracts/export.js';
import { reportLines } from '../../domain/export/lines.js';
import { replayReport } from '../../domain/export/report.js';
import { secretsRule } from '../../domain/export/secrets.js';
import type { CommandContext } from '../context.js';
import { exitCodes } from '../errors.js';
import { exportFrom, loadReplayer, textOf } from '../replayer.js';

export interface ReplayOptions {
  bundle?: string;
  acceptEdited?: boolean;
}

/** What was taken out of a file, for who wonders why its replay differs; [] where nothing was. */
export const redactionNotes = ({ redactions }: OpenExport): string[] => {
  const rules = redactions.filter(({ count }) => count > 0);
  if (rules.length === 0) return [];
  const names = rules.map(({ rule, count }) => `${rule === secretsRule ? 'secrets' : rule} (${count})`);
  return [
    `  Texts were taken out of it: ${names.join(', ')}. Where work decides by such a text, its replay differs for that alone.`,
  ];
};

/** `parley replay FILE`: 0 is the same, 1 says what differs, 2 is a file that is no whole export. Needs neither server nor gateway. */
export const replayFile = async (path: string, options: ReplayOptions, context: CommandContext): Promise<number> => {
  const text = await textOf(path, context.readStdin);
  const { document, edited } = exportFrom(path, text, options);
  const replayer = await loadReplayer(options.bundle);
  let report;
  try {
    report = replayReport(document, await replayer.replay(document), 'all');
  } finally {
    await replayer.close();
  }
  if (context.json) context.out(JSON.stringify({ file: path, edited, ...report }, null, 2));
  else {
    if (edited.length > 0) context.note(`Edited since it was written: ${edited.join('; ')}.`);
    context.out(reportLines(report).join('\n'));
    if (!report.same) for (const line of redactionNotes(document)) context.out(line);
  }
  return report.same ? exitCodes.ok : exitCodes.failed;
};
