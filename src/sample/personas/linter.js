// The linter's opinion: the function that holds the first finding.
import { join } from 'node:path';
import { functionAt, project, report, runNode, source, toolPath } from './report.js';

const { stdout } = runNode([toolPath('oxlint', 'bin/oxlint'), '-c', join(project, 'lint.json'), '-f', 'json', source]);
const finding = JSON.parse(stdout).diagnostics[0];
const line = finding?.labels[0]?.span.line;
report(line && functionAt(line), line, [`oxlint: ${finding?.message} ${finding?.help ?? ''}`.trim()]);
