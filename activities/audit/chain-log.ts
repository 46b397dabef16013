import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { AuditEntry, AuditReceipt, AuditRecord } from '../../src/contracts/audit.js';
import { genesisHash, headText, linkRecord } from '../../src/domain/audit-chain.js';
import { canonicalJson } from '../../src/domain/canonical-json.js';
import { ParleyError } from '../../src/domain/errors.js';
import { type ChainFolder, readHead, readLine } from './chain-folder.js';
import { ChainIndex, type ChainTail, type IndexQuery } from './chain-index.js';
import { linesOf } from './log-lines.js';
import { sealOf, sha256Hex, type SigningKey } from './signing-key.js';

/** Milliseconds that an append waits for those of other processes, each of which takes a few. */
const patienceMs = 10_000;

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Writes a file as a whole and durably: a reader sees the old one or the new one. */
const replaceFile = (file: string, text: string): void => {
  const draft = `${file}.${process.pid}`;
  const descriptor = openSync(draft, 'w', 0o600);
  writeSync(descriptor, text);
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(draft, file);
};

/** One chain on disk: a log that is only ever appended to, its signed head, and the index that finds things in it. */
export class ChainLog {
  readonly #index: ChainIndex;

  /** @throws ParleyError unavailable when the folder cannot be written */
  constructor(
    readonly files: ChainFolder,
    readonly chain: string,
  ) {
    try {
      mkdirSync(files.folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw new ParleyError('unavailable', `${files.folder} cannot be made: ${(error as Error).message}`);
    }
    this.#index = new ChainIndex(files.index, chain);
  }

  /** @throws ParleyError unavailable (retryable) when other processes keep it for ten seconds; the reason of the signal */
  async #exclusively<T>(work: () => T, signal: AbortSignal): Promise<T> {
    for (const giveUpAt = Date.now() + patienceMs; Date.now() < giveUpAt; ) {
      signal.throwIfAborted();
      const result = this.#index.locked(work);
      if (result) return result.done;
      await delay(5 + Math.random() * 20, undefined, { signal });
    }
    throw new ParleyError('unavailable', `${this.files.log} is being written by others for ${patienceMs} ms.`, {
      retryable: true,
    });
  }

  /** Indexes what others have appended. @returns how the log goes on */
  #catchUp(): ChainTail {
    const before = this.#index.tail(genesisHash);
    let { seq, hash } = before;
    // A log that became shorter was cut: the chain goes on from what is known, so that the gap stays to be seen.
    let size = sizeOf(this.files.log) < before.size ? 0 : before.size;
    for (const { text, offset, bytes } of linesOf(this.files.log, size)) {
      size = offset + bytes + 1;
      const item = readLine(text, 0);
      if (!('record' in item)) continue;
      this.#index.add(item.record, offset, bytes);
      if (item.record.seq > seq) ({ seq, hash } = item.record);
    }
    const tail = { size, seq, hash };
    if (size !== before.size || seq !== before.seq) this.#index.setTail(tail);
    return tail;
  }

  /** The head where it is further than the log: an index made anew after the end of the log was cut off does not know. */
  #furthest(tail: ChainTail, { chain, publicKey }: SigningKey): ChainTail {
    const head = readHead(this.files);
    if (head === null || 'unreadable' in head || head.chain !== chain || head.seq <= tail.seq) return tail;
    const seal = sealOf(publicKey);
    return seal.isSigned(seal.hash(headText(head)), head.signature)
      ? { ...tail, seq: head.seq, hash: head.hash }
      : tail;
  }

  /** Appends the entries whose keys are new, durably and together. @returns where each stands */
  async append(
    entries: readonly AuditEntry[],
    key: SigningKey,
    now: () => number,
    signal: AbortSignal,
  ): Promise<AuditReceipt[]> {
    return await this.#exclusively(() => {
      let tail = this.#furthest(this.#catchUp(), key);
      const fresh = new Map<string, AuditRecord>();
      const receipts = entries.map((entry): AuditReceipt => {
        const known = this.#index.find(entry.key);
        if (known) return known;
        const made = fresh.get(entry.key);
        if (made) return { chain: key.chain, seq: made.seq, hash: made.hash };
        const place = { chain: key.chain, seq: tail.seq + 1, at: new Date(now()).toISOString(), previous: tail.hash };
        const record = linkRecord(entry, place, { hash: sha256Hex, sign: key.sign });
        tail = { ...tail, seq: record.seq, hash: record.hash };
        fresh.set(entry.key, record);
        return { chain: record.chain, seq: record.seq, hash: record.hash };
      });
      if (fresh.size > 0) this.#write([...fresh.values()], tail, key, now);
      return receipts;
    }, signal);
  }

  #write(records: readonly AuditRecord[], tail: ChainTail, key: SigningKey, now: () => number): void {
    const lines = records.map(canonicalJson);
    if (!existsSync(this.files.publicKey)) replaceFile(this.files.publicKey, key.publicKey);
    const descriptor = openSync(this.files.log, 'a', 0o600);
    try {
      // What a dying writer left behind after the last line break was never acknowledged.
      ftruncateSync(descriptor, tail.size);
      writeSync(descriptor, lines.map((line) => `${line}\n`).join(''));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    let { size } = tail;
    records.forEach((record, place) => {
      const bytes = Buffer.byteLength(lines[place]!);
      this.#index.add(record, size, bytes);
      size += bytes + 1;
    });
    this.#index.setTail({ ...tail, size });
    const head = { chain: key.chain, seq: tail.seq, hash: tail.hash, at: new Date(now()).toISOString(), signature: '' };
    replaceFile(this.files.head, `${canonicalJson({ ...head, signature: key.sign(sha256Hex(headText(head))) })}\n`);
  }

  /** Records as they stand in the log, in the order of their numbers; one that was changed since is left out. */
  async list(query: IndexQuery, signal: AbortSignal): Promise<AuditRecord[]> {
    const places = await this.#exclusively(() => {
      this.#catchUp();
      return this.#index.list(query);
    }, signal);
    if (places.length === 0) return [];
    const descriptor = openSync(this.files.log, 'r');
    try {
      return places.flatMap(({ seq, offset, bytes }) => {
        const line = Buffer.alloc(bytes);
        readSync(descriptor, line, 0, bytes, offset);
        const item = readLine(line.toString('utf8'), 0);
        return 'record' in item && item.record.seq === seq ? [item.record] : [];
      });
    } finally {
      closeSync(descriptor);
    }
  }

  close(): void {
    this.#index.close();
  }
}
