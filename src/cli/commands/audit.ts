import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { auditFolder, chainsAt } from '../../../activities/audit/chain-folder.js';
import { exportAudit, verifyExport } from '../../../activities/audit/export.js';
import { findSigningKey } from '../../../activities/audit/signing-key.js';
import { missingRecords, verifyFolders } from '../../../activities/audit/verify.js';
import {
  type AuditExport,
  auditExportSchema,
  type AuditFault,
  type AuditFilter,
  type AuditReceipt,
  type AuditVerification,
} from '../../contracts/audit.js';
import { ParleyError } from '../../domain/errors.js';
import type { CommandContext } from '../context.js';
import { exitCodes, UsageError } from '../errors.js';

export interface VerifyOptions {
  data: string[];
  trust: string[];
  against: string[];
  againstTemporal?: boolean;
}

export interface ExportOptions extends AuditFilter {
  data: string[];
  output?: string;
}

const dataFolders = (given: readonly string[], { env }: CommandContext): string[] =>
  (given.length > 0 ? given : [env['PARLEY_DATA'] || '.parley']).map((folder) => resolve(folder));

const isFile = (path: string): boolean => {
  if (!existsSync(path))
    throw new UsageError(`${path} is not there; name a data folder, an audit folder or an export of one.`);
  return statSync(path).isFile();
};

/** An export as it lies in a file, or what it is instead. */
const readExport = (file: string): AuditExport | string => {
  try {
    const parsed = auditExportSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    return `${file} is no export: ${issue?.path.join('.') || 'it'}: ${issue?.message ?? ''}`;
  } catch (error) {
    return `${file} is no export: ${error instanceof Error ? error.message : String(error)}`;
  }
};

const onlyFaults = (faults: AuditFault[]): AuditVerification => ({
  ok: faults.length === 0,
  records: 0,
  chains: [],
  faults,
  faults_count: faults.length,
});

const verifyFile = async (file: string, trusted: string[], anchors: AuditReceipt[]): Promise<AuditVerification> => {
  const document = readExport(file);
  return typeof document === 'string'
    ? onlyFaults([{ chain: '', seq: null, line: null, fault: 'changed', why: document }])
    : await verifyExport(document, { trusted, anchors });
};

/** Records that earlier exports end with: they have to be there still. @throws UsageError for an export with faults */
const anchorsOf = async (files: readonly string[]): Promise<AuditReceipt[]> => {
  const anchors: AuditReceipt[] = [];
  for (const file of files) {
    const document = isFile(file) ? readExport(file) : `${file} is a folder`;
    if (typeof document === 'string') throw new UsageError(document);
    const { ok } = await verifyExport(document);
    if (!ok) throw new UsageError(`${file} has faults itself; see parley audit verify ${file}`);
    anchors.push(...document.chains.flatMap(({ head }) => (head === null ? [] : [head])));
  }
  return anchors;
};

/** What the results of debates, which Temporal keeps, say of the log: a log that was set back as a whole has not got it. */
const resultFaults = async (folders: readonly string[], { client }: CommandContext): Promise<AuditFault[]> => {
  const wanted: { work: string; seq: number; hash: string }[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.work({ kind: 'debate', cursor });
    for (const { id, ended_at: endedAt } of page.items) {
      if (endedAt === null) continue;
      const { result } = await client.status('debate', id);
      if (result?.audit) wanted.push({ work: id, seq: result.audit.seq, hash: result.audit.hash });
    }
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return (await missingRecords(folders, wanted)).map(({ work, seq, hash }) => ({
    chain: '',
    seq,
    line: null,
    fault: 'removed',
    why: `the result of ${work} names record ${seq} with the hash ${hash}, which no chain has`,
  }));
};

const merged = (parts: readonly AuditVerification[]): AuditVerification => ({
  ok: parts.every(({ ok }) => ok),
  records: parts.reduce((sum, { records }) => sum + records, 0),
  chains: parts.flatMap(({ chains }) => chains),
  faults: parts.flatMap(({ faults }) => faults),
  faults_count: parts.reduce((sum, part) => sum + part.faults_count, 0),
});

const count = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`;

const verificationLines = ({ ok, records, chains, faults, faults_count: total }: AuditVerification): string[] => [
  `${ok ? 'ok' : count(total, 'fault')}: ${count(records, 'record')} in ${count(chains.length, 'chain')}`,
  ...chains.map(
    ({ chain, last_seq: seq, last_hash: hash }) => `  chain ${chain}  last record ${seq}${hash ? `  ${hash}` : ''}`,
  ),
  ...faults.map(({ fault, line, why }) => `  ${fault.padEnd(13)}  ${why}${line === null ? '' : ` (line ${line})`}`),
  ...(total > faults.length ? [`  and ${total - faults.length} more`] : []),
];

/**
 * `parley audit verify [PATH…]`: checks logs where they lie, and exports with nothing but themselves. Exit code 1 and every
 * fault by name when something was removed, changed, put elsewhere, repeated or cut off.
 */
export const verifyAudit = async (
  paths: readonly string[],
  { data, trust, against, againstTemporal }: VerifyOptions,
  context: CommandContext,
): Promise<number> => {
  const targets = paths.length > 0 ? paths.map((path) => resolve(path)) : dataFolders(data, context);
  const files = targets.filter(isFile);
  const folders = targets.filter((path) => !files.includes(path));
  const anchors = await anchorsOf(against);
  for (const folder of folders) {
    if (anchors.length === 0 && againstTemporal !== true && chainsAt(folder).length === 0)
      throw new UsageError(
        `There is no audit log in ${folder}: nothing was recorded, or it lies elsewhere (--data FOLDER).`,
      );
  }
  const parts: AuditVerification[] = [];
  for (const file of files) parts.push(await verifyFile(file, trust, anchors));
  if (folders.length > 0) parts.push(await verifyFolders(folders, anchors));
  if (againstTemporal === true) parts.push(onlyFaults(await resultFaults(folders, context)));
  const verification = merged(parts);
  context.out(context.json ? JSON.stringify(verification, null, 2) : verificationLines(verification).join('\n'));
  return verification.ok ? exitCodes.ok : exitCodes.failed;
};

/** `parley audit export`: a signed document that anybody can check with `parley audit verify FILE`. */
export const exportAuditLog = async (
  { data, output, ...filter }: ExportOptions,
  context: CommandContext,
): Promise<number> => {
  const folders = dataFolders(data, context);
  for (const folder of folders) isFile(folder);
  const chains = folders.flatMap(chainsAt);
  if (chains.length === 0)
    throw new UsageError(
      `There is no audit log in ${folders.join(', ')}: nothing was recorded, or it lies elsewhere (--data FOLDER).`,
    );
  const key = findSigningKey(auditFolder(folders[0]!), context.env['PARLEY_AUDIT_KEY_FILE'] || null);
  if (key === null)
    throw new UsageError(
      `An export is signed, and ${folders[0]} has no key. Name the folder of this installation first, or set PARLEY_AUDIT_KEY_FILE.`,
    );
  const document = await exportAudit(chains, filter, key, Date.now());
  const text = JSON.stringify(document, null, 2);
  if (output === undefined) {
    context.out(text);
    return exitCodes.ok;
  }
  try {
    writeFileSync(output, `${text}\n`, { mode: 0o600 });
  } catch (error) {
    throw new ParleyError('invalid_request', `${output} cannot be written: ${(error as Error).message}`);
  }
  const shown = document.chains.flatMap(({ records }) => records.filter((record) => !('omitted' in record))).length;
  const answer = { output, records: shown, chains: document.chains.map(({ chain }) => chain) };
  context.out(
    context.json
      ? JSON.stringify(answer, null, 2)
      : `${count(shown, 'record')} in ${output}, signed by chain ${key.chain}. Check it: parley audit verify ${output} --trust ${key.chain}`,
  );
  return exitCodes.ok;
};
