import { basename } from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import type {
  AuditExport,
  AuditFault,
  AuditFilter,
  AuditReceipt,
  AuditRecord,
  AuditVerification,
} from '../../src/contracts/audit.js';
import { checkChain, type ChainItem, type ChainReport } from '../../src/domain/audit-chain.js';
import { canonicalJson } from '../../src/domain/canonical-json.js';
import { ParleyError } from '../../src/domain/errors.js';
import { type ChainFolder, readHead, readLog } from './chain-folder.js';
import { chainOf, sealOf, sha256Hex, type SigningKey } from './signing-key.js';
import { summed } from './verify.js';

type ExportedChain = AuditExport['chains'][number];

const isWanted = (record: AuditRecord, { work, tenant, since, until }: AuditFilter): boolean =>
  (work === undefined || record.work_id === work) &&
  (tenant === undefined || record.tenant === tenant) &&
  (since === undefined || Date.parse(record.at) >= Date.parse(since)) &&
  (until === undefined || Date.parse(record.at) <= Date.parse(until));

/** @throws ParleyError conflict for a log with lines that are no records: it has to be looked into first */
const exportChain = async (files: ChainFolder, filter: AuditFilter): Promise<ExportedChain> => {
  const records: ExportedChain['records'] = [];
  const head = readHead(files); // before the log: records that are appended meanwhile stand behind it
  for await (const item of readLog(files.log)) {
    if (!('record' in item))
      throw new ParleyError(
        'conflict',
        `${files.log} has a line ${item.line} that is no record; see parley audit verify. A log with faults is not exported.`,
      );
    const { record } = item;
    const last = records.at(-1);
    if (isWanted(record, filter)) records.push(record);
    else if (last && 'omitted' in last && last.omitted.from + last.omitted.hashes.length === record.seq)
      last.omitted.hashes.push(record.hash);
    else records.push({ omitted: { from: record.seq, hashes: [record.hash] } });
  }
  return {
    chain: basename(files.folder),
    public_key: existsSync(files.publicKey) ? readFileSync(files.publicKey, 'utf8') : '',
    head: head === null || 'unreadable' in head ? null : head,
    records,
  };
};

const signedText = ({ signature: _signature, ...rest }: AuditExport): string => canonicalJson(rest);

/**
 * What a log holds as one signed document (spec 08 "parley audit export"): the records asked for, and the hashes of all
 * others, so that the chain can be followed from end to end.
 */
export const exportAudit = async (
  chains: readonly ChainFolder[],
  filter: AuditFilter,
  key: SigningKey,
  now: number,
): Promise<AuditExport> => {
  const exported: ExportedChain[] = [];
  for (const files of chains) exported.push(await exportChain(files, filter));
  const unsigned: AuditExport = {
    format: 'parley-audit-1',
    exported_at: new Date(now).toISOString(),
    filter,
    chains: exported,
    signed_by: { chain: key.chain, public_key: key.publicKey },
    signature: '',
  };
  return { ...unsigned, signature: key.sign(sha256Hex(signedText(unsigned))) };
};

function* itemsOf({ records }: ExportedChain): Generator<ChainItem> {
  for (const [index, entry] of records.entries())
    yield 'omitted' in entry ? { line: index + 1, omitted: entry.omitted } : { line: index + 1, record: entry };
}

const isKeyOf = (publicKey: string, chain: string): boolean => {
  try {
    return chainOf(publicKey) === chain;
  } catch {
    return false; // no key at all; told as one that does not fit
  }
};

const unkeyed = (chain: string): AuditFault => ({
  chain,
  seq: null,
  line: null,
  fault: 'bad_signature',
  why: `the public key that the export gives is not that of the chain ${chain}`,
});

/**
 * Checks an export with nothing but itself; `trusted` are the chains whose keys are known to be genuine, by which an export
 * made up with a key of its own is told apart.
 */
export const verifyExport = async (
  document: AuditExport,
  { trusted = [], anchors = [] }: { trusted?: readonly string[]; anchors?: readonly AuditReceipt[] } = {},
): Promise<AuditVerification> => {
  const reports: ChainReport[] = [];
  for (const exported of document.chains) {
    const { chain, public_key: publicKey, head } = exported;
    reports.push(
      isKeyOf(publicKey, chain)
        ? await checkChain(itemsOf(exported), {
            chain,
            seal: sealOf(publicKey),
            head,
            anchors: anchors.filter((anchor) => anchor.chain === chain),
          })
        : { chain, records: 0, lastSeq: 0, lastHash: null, faults: [unkeyed(chain)] },
    );
  }
  const { chain, public_key: publicKey } = document.signed_by;
  const faults: AuditFault[] = [];
  const blame = (why: string): void => void faults.push({ chain, seq: null, line: null, fault: 'bad_signature', why });
  if (!isKeyOf(publicKey, chain)) faults.push(unkeyed(chain));
  else if (!sealOf(publicKey).isSigned(sha256Hex(signedText(document)), document.signature))
    blame('the export as a whole has been changed since it was signed');
  for (const name of new Set([chain, ...document.chains.map((exported) => exported.chain)])) {
    if (trusted.length > 0 && !trusted.includes(name))
      faults.push({
        ...unkeyed(name),
        why: `the chain ${name} is none of those that are trusted: ${trusted.join(', ')}`,
      });
  }
  return summed(reports, faults);
};
