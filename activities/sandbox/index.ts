import { type SandboxBackend, sandboxBackends } from '../../src/contracts/execution.js';
import { chooseBackend, notAllowed } from './choice.js';
import type { Backend } from './backend.js';
import type { OutputStream, RunningCommand, SandboxCommand, SandboxPort, SandboxProbe } from './port.js';
import { type CreateSandboxOptions, type Prepared, prepareBackends } from './prepared.js';
import { start, type StartInput } from './start.js';

export type { RunningCommand, SandboxCommand, SandboxPort, SandboxProbe } from './port.js';
export type { CreateSandboxOptions } from './prepared.js';
export type { SandboxSettings } from './choice.js';

/** A command that does nothing. */
const trial: SandboxCommand = {
  argv: ['true'],
  cwd: '.',
  env: {},
  stdin: '',
  limits: { timeout_ms: 30_000, memory_mb: 256, processes: 16, output_bytes: 10_000 },
};

/** Sandboxes on this machine. Nothing is looked at before the first use. */
export const createSandbox = (options: CreateSandboxOptions): SandboxPort => {
  const { settings } = options;
  const prepared = keptWhile<Prepared>(
    () => true,
    () => prepareBackends(options),
  );
  const startIn = async (backend: Backend, input: Omit<StartInput, 'backend'>): Promise<RunningCommand> =>
    await start((await prepared()).means, { backend, ...input });

  const probeBackend = async (name: SandboxBackend): Promise<SandboxProbe> => {
    const backend = (await prepared()).backends[name];
    const told = { backend: name, enforces: backend.enforces(false) };
    if (!settings.backends.includes(name))
      return { ...told, ok: false, version: null, missing: notAllowed(name, settings) };
    const missing = (await backend.missing()) ?? (await failureOf(backend));
    return { ...told, ok: missing === null, version: await backend.version(), missing };
  };

  /** Why a trial fails; null: it does not. */
  const failureOf = async (backend: Backend): Promise<string | null> => {
    const { signal } = new AbortController();
    try {
      const running = await startIn(backend, {
        ...{ workspace: null, network: false, command: trial, signal, onErrors: () => {} },
      });
      const { exit_code, stderr_tail } = await toEnd(running);
      return exit_code === 0 ? null : `a trial ended with exit code ${exit_code}: ${stderr_tail.trim()}`;
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      const advice = backend.advice(said);
      return advice === '' ? said : `${said} (${advice})`;
    }
  };

  const probes = new Map(
    sandboxBackends.map((name) => [
      name,
      keptWhile<SandboxProbe>(
        ({ ok }) => ok,
        () => probeBackend(name),
      ),
    ]),
  );
  const probe = (name: SandboxBackend): Promise<SandboxProbe> => (probes.get(name) ?? (() => probeBackend(name)))();
  const choose: SandboxPort['choose'] = (wanted) => chooseBackend(wanted, settings, probe);
  const open = async (
    [workspace, wanted, command, signal]: Parameters<SandboxPort['open']>,
    onErrors: (piece: Buffer) => void,
  ): Promise<RunningCommand> => {
    const name = await choose(wanted);
    const { network } = wanted;
    return await startIn((await prepared()).backends[name], { workspace, network, command, signal, onErrors });
  };
  return {
    probe: () => Promise.all(sandboxBackends.map(probe)),
    choose,
    open: (...args) => open(args, () => {}),
    run: async (workspace, wanted, command, signal, onOutput) => {
      const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
      const tell = (stream: OutputStream, piece: Buffer): void =>
        onOutput?.(stream, decoders[stream].decode(piece, { stream: true }));
      const running = await open([workspace, wanted, command, signal], (piece) => tell('stderr', piece));
      return await toEnd(running, (piece) => tell('stdout', piece));
    },
  };
};

/** Work that is done once, and again when it failed or its answer was not good: what was wrong may have been mended. */
const keptWhile = <T>(isGood: (answer: T) => boolean, work: () => Promise<T>): (() => Promise<T>) => {
  let kept: Promise<T> | null = null;
  const forget = (): void => {
    kept = null;
  };
  return () => {
    if (kept === null) {
      kept = work();
      kept.then((answer) => isGood(answer) || forget(), forget);
    }
    return kept;
  };
};

const toEnd = async ({ stdout, ended }: RunningCommand, hear: (piece: Buffer) => void = () => {}) => {
  for await (const piece of stdout) hear(piece);
  return await ended;
};
