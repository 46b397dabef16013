import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Which process a worker is, so that a later one can tell whether it still lives: host, process id, and on Linux the boot,
 * the namespace of process ids and the tick at which the process began. A number of a process is only comparable within
 * one boot and one namespace: two containers both have a process 1, two machines may share a name.
 */
export interface ProcessIdentity {
  host: string;
  pid: number;
  /** `boot.namespace`, or empty where the system does not tell. */
  scope: string;
  /** Tick since boot at which the process began. */
  began: string;
}

const pattern = /^parley@(?<host>.+):(?<pid>\d+):(?<scope>[0-9a-f]{8}\.\d+)\.(?<began>\d+)$/;

/** `parley@host:pid:boot.namespace.began`; without the last part on systems that do not tell. */
export function workerIdentity(): string {
  const { host, pid, scope, began } = thisProcess();
  return scope === '' ? `parley@${host}:${pid}` : `parley@${host}:${pid}:${scope}.${began}`;
}

export const thisProcess = (): ProcessIdentity => ({
  host: hostname(),
  pid: process.pid,
  scope: scopeOf(),
  began: beganAt(process.pid) ?? '',
});

/** @returns null for what is no identity of Parley's, or one that says too little to judge */
export function parseIdentity(identity: string): ProcessIdentity | null {
  const groups = pattern.exec(identity)?.groups;
  return groups === undefined
    ? null
    : { host: groups['host']!, pid: Number(groups['pid']), scope: groups['scope']!, began: groups['began']! };
}

/**
 * Whether the process that gave itself `identity` has certainly ended: it ran where this one runs, and its number is free
 * or belongs to another process now. In doubt no: failing an attempt that lives would repeat a paid call.
 */
export function isDead(identity: string, here: ProcessIdentity = thisProcess()): boolean {
  return isRunning(identity, here) === false;
}

/** Whether the process that gave itself `identity` still runs; null when it ran where this one cannot see. */
export function isRunning(identity: string, here: ProcessIdentity = thisProcess()): boolean | null {
  const other = parseIdentity(identity);
  const isSeen = other !== null && other.host === here.host && other.scope === here.scope && here.scope !== '';
  return isSeen ? beganAt(other.pid) === other.began : null;
}

function scopeOf(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);
    const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0];
    return namespace === undefined ? '' : `${boot}.${namespace}`;
  } catch {
    return ''; // not Linux
  }
}

/** @returns null when there is no such process */
function beganAt(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything; 20 fields after it comes the start.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}
