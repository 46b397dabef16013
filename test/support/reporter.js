// The last lines of a test run: the counts, the skipped tests by name (their titles say what they need), the slowest files.
// With PARLEY_TEST_REPORT=FILE the figures go there as JSON too, for .ci/run.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

const slowestShown = 5;

export default class Reporter {
  onRunComplete(_contexts, results) {
    const passed = results.numPassedTests;
    // A file that does not even load is a failure without a test.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const files = results.testResults.map(({ testFilePath, perfStats }) => ({
      file: relative(process.cwd(), testFilePath),
      seconds: (perfStats.end - perfStats.start) / 1_000,
    }));
    const slowest = files.sort((one, two) => two.seconds - one.seconds).slice(0, slowestShown);
    const notRun = results.testResults.flatMap(({ testResults }) =>
      testResults.filter(({ status }) => status === 'pending' || status === 'todo').map(({ fullName }) => fullName),
    );
    const lines = [
      '',
      'Slowest files:',
      ...slowest.map(({ file, seconds }) => `  ${seconds.toFixed(1).padStart(6)} s  ${file}`),
      ...(notRun.length > 0
        ? ['Skipped (npm run pretest names what is missing):', ...notRun.map((name) => `  ${name}`)]
        : []),
      `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
    ];
    process.stderr.write(`${lines.join('\n')}\n`);
    const report = process.env.PARLEY_TEST_REPORT;
    if (report) writeFileSync(report, JSON.stringify({ passed, failed, skipped, slowest, notRun }));
  }
}
