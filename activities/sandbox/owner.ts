import { readlinkSync } from 'node:fs';
import { statOf } from './process-tree.js';

/** Numbers of processes compare only within one namespace: two containers both have a process 1. */
const namespaceOfIds = (): string => {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0'; // not Linux
  }
};

/** Names what this process makes in places that outlive it: namespace, number and begin of the process. */
export const ownTag = (): string => `${namespaceOfIds()}-${process.pid}-${statOf(process.pid)?.began ?? '0'}`;

/** The tag at the beginning of a name that `ownTag` and a dash made. */
export const tagIn = (name: string): string | null => /^\d+-\d+-\d+(?=-)/.exec(name)?.[0] ?? null;

/** Whether the process behind a tag has certainly ended: it ran where this one runs and is not there any more. */
export const hasOwnerEnded = (tag: string): boolean => {
  const [namespace, pid, began] = tag.split('-');
  return began !== '0' && namespace === namespaceOfIds() && statOf(Number(pid))?.began !== began;
};
