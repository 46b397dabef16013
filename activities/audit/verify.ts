import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { AuditFault, AuditReceipt, AuditVerification } from '../../src/contracts/audit.js';
import { checkChain, type ChainReport } from '../../src/domain/audit-chain.js';
import { type ChainFolder, chainsAt, readHead, readLog } from './chain-folder.js';
import { chainOf, sealOf } from './signing-key.js';

const keptFaults = 1_000;

/** Reports of several chains as one. */
export const summed = (reports: readonly ChainReport[], more: readonly AuditFault[] = []): AuditVerification => {
  const faults = [...reports.flatMap((report) => report.faults), ...more];
  return {
    ok: faults.length === 0,
    records: reports.reduce((sum, { records }) => sum + records, 0),
    chains: reports.map(({ chain, records, lastSeq, lastHash }) => ({
      chain,
      records,
      last_seq: lastSeq,
      last_hash: lastHash,
    })),
    faults: faults.slice(0, keptFaults),
    faults_count: faults.length,
  };
};

const ofChain = (anchors: readonly AuditReceipt[], chain: string): AuditReceipt[] =>
  anchors.filter((anchor) => anchor.chain === chain);

/** The folder's name is the id of the chain, and the id is made of the key: the key cannot be exchanged for another. */
const keyFault = (files: ChainFolder, chain: string): AuditFault | string => {
  const fault = (why: string): AuditFault => ({ chain, seq: null, line: null, fault: 'bad_signature', why });
  if (!existsSync(files.publicKey)) return fault(`${files.publicKey} is missing; put the chain's public key back`);
  const publicKey = readFileSync(files.publicKey, 'utf8');
  try {
    return chainOf(publicKey) === chain
      ? publicKey
      : fault(`the key in ${files.publicKey} is that of the chain ${chainOf(publicKey)}`);
  } catch (error) {
    return fault(`${files.publicKey} holds no key: ${error instanceof Error ? error.message : String(error)}`);
  }
};

/** Checks one chain where it lies. `anchors`: records that are known to have been there. */
export const verifyChain = async (files: ChainFolder, anchors: readonly AuditReceipt[] = []): Promise<ChainReport> => {
  const chain = basename(files.folder);
  const publicKey = keyFault(files, chain);
  if (typeof publicKey !== 'string') return { chain, records: 0, lastSeq: 0, lastHash: null, faults: [publicKey] };
  return await checkChain(readLog(files.log), {
    chain,
    seal: sealOf(publicKey),
    head: readHead(files),
    anchors: ofChain(anchors, chain),
  });
};

/**
 * Checks every chain at the paths (chain folders, folders of them, data folders). A chain that an anchor names and that is
 * not there at all is a fault too.
 */
export const verifyFolders = async (
  paths: readonly string[],
  anchors: readonly AuditReceipt[] = [],
): Promise<AuditVerification> => {
  const reports: ChainReport[] = [];
  for (const files of paths.flatMap(chainsAt)) reports.push(await verifyChain(files, anchors));
  const lost = [...new Set(anchors.map(({ chain }) => chain))].filter(
    (chain) => !reports.some((report) => report.chain === chain),
  );
  return summed(
    reports,
    lost.map((chain) => ({
      chain,
      seq: null,
      line: null,
      fault: 'removed',
      why: `the whole chain ${chain} is missing`,
    })),
  );
};

/** Which of the records that results name are in none of the chains at the paths. */
export const missingRecords = async <W extends { seq: number; hash: string }>(
  paths: readonly string[],
  wanted: readonly W[],
): Promise<W[]> => {
  const left = new Map(wanted.map((record) => [record.hash, record]));
  for (const files of paths.flatMap(chainsAt)) {
    for await (const item of readLog(files.log)) {
      if (!('record' in item)) continue;
      const { seq, hash } = item.record;
      if (left.get(hash)?.seq === seq) left.delete(hash);
    }
  }
  return [...left.values()];
};
