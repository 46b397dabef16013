import type { AuditEntry, AuditFault, AuditHead, AuditReceipt, AuditRecord } from '../contracts/audit.js';
import { canonicalJson } from './canonical-json.js';

/** What the first record names as the hash of the one before. */
export const genesisHash = '0'.repeat(64);

/** How hashes and signatures are made and checked; the chain itself knows no cryptography. */
export interface ChainSeal {
  /** sha256 in lower-case hexadecimal digits. */
  hash(text: string): string;
  /** Whether the chain's key made `signature` over `hash`. */
  isSigned(hash: string, signature: string): boolean;
}

export interface ChainPlace {
  chain: string;
  seq: number;
  /** ISO 8601. */
  at: string;
  previous: string;
}

/** The text whose hash is the record's: all of it but the hash and the signature. */
export const hashedText = ({ hash: _hash, signature: _signature, ...rest }: AuditRecord): string => canonicalJson(rest);

/** The text whose hash is signed in a head. */
export const headText = ({ signature: _signature, ...rest }: AuditHead): string => canonicalJson(rest);

/** The next record of a chain, signed over its hash. */
export const linkRecord = (
  entry: AuditEntry,
  place: ChainPlace,
  { hash, sign }: { hash: ChainSeal['hash']; sign: (hash: string) => string },
): AuditRecord => {
  const unsealed = { ...entry, ...place, hash: '', signature: '' };
  const sum = hash(hashedText(unsealed));
  return { ...unsealed, hash: sum, signature: sign(sum) };
};

/** What stands at one place of a log: a record, something that is none, or the hashes of records that an export left out. */
export type ChainItem =
  | { line: number; record: AuditRecord }
  | { line: number; unreadable: string }
  | { line: number; omitted: { from: number; hashes: readonly string[] } };

export interface ChainCheck {
  chain: string;
  seal: ChainSeal;
  /** The signed head as it was found: none, or what could not be read as one. */
  head: AuditHead | { unreadable: string } | null;
  /** Records that are known to have been there: from results in Temporal, or from an older export. */
  anchors?: readonly AuditReceipt[];
}

export interface ChainReport {
  chain: string;
  /** Shown records; those an export left out do not count. */
  records: number;
  lastSeq: number;
  lastHash: string | null;
  faults: AuditFault[];
}

const range = (from: number, to: number): string => (from === to ? `record ${from}` : `records ${from} to ${to}`);
const are = (from: number, to: number): string => (from === to ? 'is' : 'are');

/** Numbers that are missing below the highest seen, as ranges `[from, to]`, ascending. */
class Missing {
  readonly ranges: [number, number][] = [];

  add(from: number, to: number): void {
    if (from <= to) this.ranges.push([from, to]);
  }

  /** @returns whether `seq` was missing until now */
  take(seq: number): boolean {
    const index = this.ranges.findIndex(([from, to]) => from <= seq && seq <= to);
    const found = this.ranges[index];
    if (!found) return false;
    const rest: [number, number][] = [
      [found[0], seq - 1],
      [seq + 1, found[1]],
    ];
    this.ranges.splice(index, 1, ...rest.filter(([low, high]) => low <= high));
    return true;
  }
}

/** Reads a chain item by item. Each fault is told once, where it is: what only follows from it is not. */
class ChainReader {
  readonly faults: AuditFault[] = [];
  records = 0;
  lastSeq = 0;
  /** Hash of the record before; null where that is faulty or missing, so that the link to it says nothing. */
  lastHash: string | null = genesisHash;
  readonly #missing = new Missing();
  /** Faulty places since the last good one: each stands for one of the numbers that seem to be missing there. */
  #strays: AuditFault[] = [];

  constructor(
    readonly chain: string,
    readonly seal: ChainSeal,
    /** Hashes that are known to have been there, by number. */
    readonly known: Map<number, string[]>,
  ) {}

  blame(fault: AuditFault['fault'], seq: number | null, line: number | null, why: string): AuditFault {
    const found: AuditFault = { chain: this.chain, seq, line, fault, why };
    this.faults.push(found);
    return found;
  }

  take(item: ChainItem): void {
    if ('record' in item) this.#record(item.record, item.line);
    else if ('omitted' in item) this.#omitted(item.omitted, item.line);
    else
      this.#strays.push(this.blame('changed', null, item.line, `line ${item.line} is no record: ${item.unreadable}`));
  }

  /** What is wrong with the record by itself. */
  #sealFault(record: AuditRecord, line: number): AuditFault | null {
    const { seq, hash, chain, signature } = record;
    if (this.seal.hash(hashedText(record)) !== hash)
      return this.blame('changed', seq, line, `the content of record ${seq} is not what its hash was made of`);
    if (chain !== this.chain) return this.blame('bad_signature', seq, line, `record ${seq} is of the chain ${chain}`);
    return this.seal.isSigned(hash, signature)
      ? null
      : this.blame('bad_signature', seq, line, `record ${seq} is not signed with the key of this chain`);
  }

  #record(record: AuditRecord, line: number): void {
    const { seq, hash, previous } = record;
    this.records += 1;
    const fault = this.#sealFault(record, line);
    if (fault !== null) {
      // Its number may be part of what was changed: what follows shows its true place.
      this.#strays.push(fault);
      return;
    }
    if (seq <= this.lastSeq) {
      if (this.#missing.take(seq))
        this.blame('reordered', seq, line, `record ${seq} stands after record ${this.lastSeq}`);
      else this.blame('duplicate', seq, line, `record ${seq} stands in the log already`);
      return;
    }
    this.#advance(seq);
    if (this.lastHash !== null && previous !== this.lastHash)
      this.blame(
        'changed',
        seq,
        line,
        `record ${seq} follows on ${previous}; the record before it is ${this.lastHash}`,
      );
    this.#compare(seq, hash, line);
    this.lastSeq = seq;
    this.lastHash = hash;
  }

  #omitted({ from, hashes }: { from: number; hashes: readonly string[] }, line: number): void {
    const to = from + hashes.length - 1;
    if (from <= this.lastSeq) {
      this.blame('reordered', from, line, `the omitted ${range(from, to)} stand after record ${this.lastSeq}`);
      return;
    }
    this.#advance(from);
    hashes.forEach((hash, index) => this.#compare(from + index, hash, line));
    this.lastSeq = Math.max(this.lastSeq, to);
    this.lastHash = hashes.at(-1) ?? null;
  }

  /** Goes on to `seq`: the numbers between are those of faulty places, or missing. */
  #advance(seq: number): void {
    const first = this.lastSeq + 1;
    if (seq > first) this.lastHash = null;
    const free = new Set<number>();
    for (let number = first; number < seq && free.size <= this.#strays.length; number += 1) free.add(number);
    const taken = new Set<number>();
    const unplaced = this.#strays.filter((stray) => {
      const isPlaced = stray.seq !== null && stray.seq >= first && stray.seq < seq && !taken.has(stray.seq);
      if (isPlaced) taken.add(stray.seq!);
      return !isPlaced;
    });
    for (const stray of unplaced) {
      const number = [...free].find((candidate) => !taken.has(candidate));
      if (number === undefined) break;
      stray.seq = number;
      taken.add(number);
    }
    this.#strays = [];
    let from = first;
    for (const number of [...taken].sort((a, b) => a - b)) {
      this.#missing.add(from, number - 1);
      from = number + 1;
    }
    this.#missing.add(from, seq - 1);
    for (const number of taken) this.known.delete(number);
    this.lastSeq = seq - 1;
  }

  #compare(seq: number, hash: string, line: number): void {
    for (const wanted of this.known.get(seq) ?? []) {
      if (wanted !== hash)
        this.blame('changed', seq, line, `record ${seq} has the hash ${hash}; it was known with ${wanted}`);
    }
    this.known.delete(seq);
  }

  /** What is missing, within and at the end. */
  end(): void {
    const wanted = Math.max(0, ...this.known.keys());
    const strays = this.#strays.length;
    if (strays > 0) this.#advance(Math.max(this.lastSeq + 1, Math.min(wanted, this.lastSeq + strays) + 1));
    for (const [from, to] of this.#missing.ranges)
      this.blame('removed', from, null, `${range(from, to)} ${are(from, to)} missing`);
    if (wanted <= this.lastSeq) return;
    const lost = range(this.lastSeq + 1, wanted);
    this.blame('truncated', this.lastSeq + 1, null, `${lost} ${are(this.lastSeq + 1, wanted)} missing at the end`);
  }
}

/**
 * Checks a whole log: every record's hash, signature, number and link to the one before, the head, and the anchors. Items
 * come in the order in which they stand; `line` counts from 1.
 */
export const checkChain = async (
  items: AsyncIterable<ChainItem> | Iterable<ChainItem>,
  { chain, seal, head, anchors = [] }: ChainCheck,
): Promise<ChainReport> => {
  const isRead = head !== null && !('unreadable' in head);
  const isSigned = isRead && head.chain === chain && seal.isSigned(seal.hash(headText(head)), head.signature);
  const known = new Map<number, string[]>();
  for (const { seq, hash } of isSigned ? [...anchors, head] : anchors)
    known.set(seq, [...(known.get(seq) ?? []), hash]);
  const reader = new ChainReader(chain, seal, known);
  for await (const item of items) reader.take(item);
  reader.end();
  const { faults, records, lastSeq, lastHash } = reader;
  if (head === null && lastSeq > 0) {
    const why = 'the signed head is missing: whether records are missing at the end cannot be told';
    reader.blame('truncated', null, null, why);
  }
  if (head !== null && !isRead) reader.blame('changed', null, null, `the head cannot be read: ${head.unreadable}`);
  if (isRead && !isSigned)
    reader.blame('bad_signature', head.seq, null, 'the head is not signed with the key of this chain');
  return { chain, records, lastSeq, lastHash: lastSeq === 0 ? null : lastHash, faults };
};
