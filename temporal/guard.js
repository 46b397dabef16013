// Runs a program for as long as its parent lives: node guard.js SIGNAL PROGRAM [ARGUMENT...]
// The parent holds the other end of stdin and never writes to it. When the parent ends, in whatever way (a `kill -9`
// too), the pipe closes and the program gets SIGNAL; so no server stays behind and keeps the port.
import { spawn } from 'node:child_process';

const [signal, program, ...args] = process.argv.slice(2);
/** Time in which the program must end after SIGNAL before it is killed. */
const graceMs = 10_000;

// The parent decides when to stop; the terminal's Ctrl-C must not take the server from under a draining worker.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {});
// After the parent's death nobody reads what the program prints.
process.stderr.on('error', () => {});

const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
child.once('error', (error) => {
  process.stderr.write(`cannot run ${program}: ${error.message}\n`);
  process.exit(127);
});
child.once('exit', (code, killedBy) => process.exit(code ?? (killedBy ? 1 : 0)));

process.stdin.resume();
process.stdin.on('error', () => {});
process.stdin.once('close', () => {
  child.kill(signal);
  setTimeout(() => child.kill('SIGKILL'), graceMs).unref();
});
