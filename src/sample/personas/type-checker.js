// The type checker's opinion: the function that holds the first type error, although the project is plain JavaScript.
import { functionAt, report, runNode, source, toolPath } from './report.js';

const { stdout } = runNode([
  toolPath('typescript', 'bin/tsc'),
  ...['--ignoreConfig', '--noEmit', '--allowJs', '--checkJs', '--strict', '--noImplicitAny', 'false'],
  ...['--target', 'es2022', '--module', 'nodenext', '--types', '', '--pretty', 'false'],
  source,
]);
const error = /\((\d+),\d+\): error (TS\d+): (.*)/.exec(stdout);
const line = Number(error?.[1]);
report(error && functionAt(line), line, [`tsc ${error?.[2]}: ${error?.[3]}`]);
