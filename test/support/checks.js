// Types, lint and format at the same time: each leaves processors idle that another one can use. What each says stands together.
import { spawn } from 'node:child_process';

const checks = ['typecheck', 'lint', 'format:check'];

/** @returns its exit code, once all that it printed has been shown */
const check = (name) =>
  new Promise((resolve) => {
    // npm is a script of the shell on Windows.
    const child = spawn('npm', ['run', '--silent', name], { shell: process.platform === 'win32' });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (said += piece));
    child.on('error', (error) => (said += `${error.message}\n`));
    child.on('close', (code) => {
      console.log(`${name}: ${code === 0 ? 'well' : 'FAILED'}\n${said}`.trimEnd());
      resolve(code);
    });
  });

const codes = await Promise.all(checks.map(check));
process.exitCode = codes.every((code) => code === 0) ? 0 : 1;
