import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { opened, readExport } from '../../src/export-file.js';
import { reportLines } from '../../src/domain/export/lines.js';
import { replayExport } from '../../temporal/replay-export.js';
import { createReplayer } from '../../temporal/replaying.js';

/** Describes each export of a folder: whoever drops `parley export run ID --output FOLDER/NAME.json` there has a test of it. */
export const describeExports = (folder: string): void => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  describe('an exported piece of work replays to what was recorded', () => {
    const replayer = createReplayer({ bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' });
    afterAll(() => replayer.close());

    test.each(files)('%s', async (file) => {
      const read = readExport(readFileSync(join(folder, file), 'utf8'));
      if (read.document === null) throw new Error(`${file}: ${read.problem}\n${JSON.stringify(read.faults, null, 2)}`);
      expect(read.edited).toEqual([]);
      const report = await replayExport(opened(read.document), replayer);
      if (!report.same) throw new Error(reportLines(report).join('\n'));
    });
  });
};
