import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { ParleyError } from '../../src/domain/errors.js';
import type { CommandReport, Enforced } from '../../src/contracts/execution.js';
import { firstData, type Launch } from './backend.js';
import type { ControlGroup } from './control-groups.js';
import { type Ended, type EndedBy, outcomeOf } from './outcome.js';
import { OutputTail } from './output-tail.js';
import { makeStandardStreams, type StandardStreams } from './pipes.js';
import type { OutputStream, RunningCommand, SandboxCommand } from './port.js';
import { descendantsOf, haveEnded, type Process, signal as send } from './process-tree.js';
import { joinScript, shell } from './scripts.js';
import { inTurn } from './starts.js';

/** How long after SIGTERM a command is killed. */
const graceMs = 1_000;
/** What a report keeps of each stream: reports stand in histories, where every byte is paid for again and again. */
const tailBytes = 16_384;
const endLimitMs = 10_000;
/** Namespaces and mounts take some milliseconds; a mount of a dead server would wait for ever. */
const setUpLimitMs = 60_000;

export interface Start {
  launch: Launch;
  command: SandboxCommand;
  enforced: Enforced;
  group: ControlGroup | null;
  /** An empty folder for names that are needed for a moment. */
  scratch: string;
  signal: AbortSignal;
  onErrors: (piece: Buffer) => void;
}

/**
 * Starts a command and sees to its end: at its limits or when it is aborted every process of it gets SIGTERM and, a second
 * later, SIGKILL. Settles when it runs.
 * @throws ParleyError `unavailable` when the sandbox could not be set up, `invalid_request` when the command is too long;
 * the signal's reason when it was aborted by then
 */
export const startCommand = async (input: Start): Promise<RunningCommand> => {
  const { launch, command, scratch } = input;
  for (const [name, text] of Object.entries(launch.files)) await writeFile(join(scratch, name), text, { mode: 0o600 });
  const running = await inTurn(async () => {
    const streams = await makeStandardStreams(scratch, command.stdin);
    return new Running(input, streams, spawnIn(input, streams));
  });
  if (await running.begins) return running;
  await running.ended;
  throw running.failure();
};

const spawnIn = ({ launch, group }: Start, streams: StandardStreams): ChildProcess => {
  const folders = group?.folders ?? [];
  const args = ['-c', joinScript, 'sh', `${folders.length}`, ...folders, launch.program, ...launch.args];
  const extra = ['begun', ...launch.data].map(() => 'pipe' as const);
  try {
    const { cwd, env } = launch;
    // A group of its own: what a terminal sends to the worker is not meant for it.
    return spawn(shell, args, { cwd, env, detached: true, stdio: [...streams.descriptors, ...extra] });
  } catch (error) {
    streams.stdout.destroy();
    streams.stderr.destroy();
    if ((error as NodeJS.ErrnoException).code !== 'E2BIG') throw error;
    throw new ParleyError(
      'invalid_request',
      'argv is longer than the system takes (about 128 KiB for one argument, 2 MiB in all); put the text into stdin or a file',
    );
  } finally {
    streams.release();
  }
};

/** A program may end without having read what it is given. */
const feed = (stream: Writable, text: string | Buffer): void => {
  stream.on('error', () => {});
  stream.end(text);
};

const closeOf = (stream: Readable): Promise<unknown> =>
  stream.closed ? Promise.resolve() : new Promise((resolve) => stream.once('close', resolve));

class Running implements RunningCommand {
  readonly stdout: AsyncIterable<Buffer>;
  readonly ended: Promise<CommandReport>;
  /** Whether the command came to run; false: the sandbox around it failed. */
  readonly begins: Promise<boolean>;
  private readonly tails: Record<OutputStream, OutputTail>;
  private beganAt = performance.now();
  private readonly timers: NodeJS.Timeout[] = [];
  private hasBegun: boolean;
  private hasExited = false;
  /** Whether somebody waits for standard output at this moment. */
  private isPulled = false;
  private endedBy: EndedBy = null;
  /** What was there when all was killed. */
  private killed: Process[] | null = null;

  constructor(
    private readonly input: Start,
    private readonly streams: StandardStreams,
    private readonly child: ChildProcess,
  ) {
    const { launch, signal, onErrors } = input;
    this.tails = {
      stdout: new OutputTail(tailBytes),
      stderr: new OutputTail(tailBytes),
    };
    this.hasBegun = !launch.tellsBegin;
    this.begins = this.hearBegin(child.stdio[3] as Readable);
    launch.data.forEach((text, index) => feed(child.stdio[firstData + index] as Writable, text));
    this.stdout = this.read();
    streams.stderr.on('data', (piece: Buffer) => {
      this.take('stderr', piece);
      onErrors(piece);
    });
    const onAbort = (): void => this.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    this.timers.push(setTimeout(() => !this.hasBegun && this.stop('time'), setUpLimitMs));
    this.ended = this.end().finally(() => signal.removeEventListener('abort', onAbort));
    this.ended.catch(() => undefined); // for who waits for its output alone
  }

  /** Of the sandbox, in its own words. */
  failure(): ParleyError {
    const said = this.tails.stderr.text().trim();
    return new ParleyError(
      'unavailable',
      `the ${this.input.enforced.backend} sandbox could not be set up${said === '' ? '' : `: ${said}`}; nothing has run`,
    );
  }

  /** What is said comes before the end of the pipe, even from a command that has already gone. */
  private async hearBegin(told: Readable): Promise<boolean> {
    if (!this.hasBegun)
      await new Promise<void>((resolve) => {
        told.once('data', () => {
          this.hasBegun = true;
          resolve();
        });
        told.once('close', resolve);
      });
    told.resume();
    if (this.hasBegun && !this.hasExited) {
      this.beganAt = performance.now();
      this.timers.push(setTimeout(() => this.stop('time'), this.input.command.limits.timeout_ms));
    }
    return this.hasBegun;
  }

  private async *read(): AsyncGenerator<Buffer, void, undefined> {
    let ended = false;
    try {
      this.isPulled = true;
      for await (const piece of this.streams.stdout as AsyncIterable<Buffer>) {
        this.isPulled = false;
        this.take('stdout', piece);
        yield piece;
        this.isPulled = true;
      }
      ended = true;
    } catch (error) {
      ended = true;
      // Destroying it on abort ends the reading with an error that tells nothing new.
      if (this.endedBy === null && !this.input.signal.aborted) throw error;
    } finally {
      if (!ended) this.stop('left');
    }
  }

  private take(stream: OutputStream, piece: Buffer): void {
    this.tails[stream].add(piece);
    if (this.seen() > this.input.command.limits.output_bytes) this.stop('output');
  }

  private seen(): number {
    return this.tails.stdout.seen + this.tails.stderr.seen;
  }

  private abort(): void {
    this.stop('abort');
    if (this.hasExited) this.dropOutput();
  }

  private dropOutput(): void {
    this.streams.stdout.destroy();
    this.streams.stderr.destroy();
  }

  private stop(by: EndedBy): void {
    if (this.endedBy !== null || this.hasExited) return;
    this.endedBy = by;
    this.signal(this.hasBegun ? 'SIGTERM' : 'SIGKILL');
    this.timers.push(setTimeout(() => this.signal('SIGKILL'), graceMs));
  }

  private signal(name: 'SIGTERM' | 'SIGKILL'): void {
    const { launch } = this.input;
    launch.signal?.(name);
    const { pid } = this.child;
    if (pid === undefined) return;
    const tree = descendantsOf(pid);
    for (const process of tree) send(process.pid, name);
    if (name === 'SIGTERM') return; // the first process only waits for the others
    this.killed = tree;
    send(pid, name);
  }

  private async exit(): Promise<[number | null, NodeJS.Signals | null]> {
    try {
      return (await once(this.child, 'exit')) as [number | null, NodeJS.Signals | null];
    } catch (error) {
      this.dropOutput(); // it did not even start
      throw error;
    }
  }

  private async end(): Promise<CommandReport> {
    const { launch, group, command, enforced, signal } = this.input;
    const [exitCode, by] = await this.exit();
    this.hasExited = true;
    for (const timer of this.timers) clearTimeout(timer);
    if (launch.leadsGroup && this.child.pid !== undefined) send(-this.child.pid, 'SIGKILL');
    const events = (await group?.events()) ?? null;
    await group?.end();
    if (!(await haveEnded(this.killed ?? [], endLimitMs)))
      throw new ParleyError('unavailable', `processes of ${command.argv[0]} do not end although they were killed`);
    if (this.endedBy === 'abort' || this.endedBy === 'left' || signal.aborted || !(await this.begins)) {
      this.streams.stdout.destroy();
    }
    // Without group or namespace something of it may live on somewhere and hold the pipes: then what is there is all.
    const held = setInterval(() => this.isPulled && launch.leadsGroup && this.dropOutput(), graceMs);
    await Promise.all([closeOf(this.streams.stdout), closeOf(this.streams.stderr)]);
    clearInterval(held);
    signal.throwIfAborted();
    if (exitCode !== null && exitCode === launch.failureCode && this.endedBy === null) throw this.failure();
    const ended: Ended = { exitCode, signal: by, isForced: this.killed !== null };
    const durationMs = Math.round(performance.now() - this.beganAt);
    const { stdout, stderr } = this.tails;
    return {
      ...outcomeOf(ended, this.endedBy, events, { enforced, limits: command.limits, durationMs }),
      stdout_tail: stdout.text(),
      stderr_tail: stderr.text(),
      output_bytes: this.seen(),
      truncated: stdout.truncated || stderr.truncated,
      duration_ms: durationMs,
      enforced,
    };
  }
}
