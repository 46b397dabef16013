import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import {
  type AuditHead,
  auditHeadSchema,
  type AuditRecord,
  auditRecordSchema,
  chainIdSchema,
} from '../../src/contracts/audit.js';
import type { ChainItem } from '../../src/domain/audit-chain.js';
import { canonicalJson } from '../../src/domain/canonical-json.js';
import { linesOf } from './log-lines.js';

/** The files of one chain. The log is the truth, one record a line; the index can be made again from it. */
export interface ChainFolder {
  folder: string;
  log: string;
  head: string;
  publicKey: string;
  index: string;
}

export const chainFolder = (folder: string): ChainFolder => ({
  folder,
  log: join(folder, 'log.jsonl'),
  head: join(folder, 'head.json'),
  publicKey: join(folder, 'public-key.pem'),
  index: join(folder, 'index.db'),
});

/** Where the chains of a data folder are. */
export const auditFolder = (dataFolder: string): string => join(dataFolder, 'audit');

const isChain = (folder: string): boolean =>
  chainIdSchema.safeParse(basename(folder)).success && statSync(folder).isDirectory();

/** Every chain at a path: a chain's own folder, a folder of chains, or a data folder. */
export const chainsAt = (path: string): ChainFolder[] => {
  if (isChain(path)) return [chainFolder(path)];
  const folder = existsSync(auditFolder(path)) ? auditFolder(path) : path;
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter(isChain)
    .sort()
    .map(chainFolder);
};

/** A line of the log. What is not written exactly as the log writes it has been changed, whatever it means. */
export const readLine = (text: string, line: number): ChainItem => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { line, unreadable: error instanceof Error ? error.message : String(error) };
  }
  const parsed = auditRecordSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { line, unreadable: `${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'not a record'}` };
  }
  const record: AuditRecord = parsed.data;
  if (canonicalJson(record) !== text) return { line, unreadable: 'it is not in canonical form' };
  return { line, record };
};

/** Lines between two breaths of the process: a check of a long log holds nothing else up. */
const linesAtOnce = 64;

/** The log, line by line. */
export async function* readLog(file: string): AsyncGenerator<ChainItem> {
  let line = 0;
  for (const { text } of linesOf(file)) {
    line += 1;
    if (line % linesAtOnce === 0) await setImmediate();
    yield readLine(text, line);
  }
}

/** The signed head; null where there is none. */
export const readHead = ({ head }: ChainFolder): AuditHead | { unreadable: string } | null => {
  if (!existsSync(head)) return null;
  try {
    return auditHeadSchema.parse(JSON.parse(readFileSync(head, 'utf8')));
  } catch (error) {
    return { unreadable: error instanceof Error ? error.message : String(error) };
  }
};
