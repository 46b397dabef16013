import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { auditEntrySchema, type AuditReader, type AuditRecord } from '../../src/contracts/audit.js';
import { ParleyError } from '../../src/domain/errors.js';
import { type ChainFolder, chainFolder, chainsAt } from './chain-folder.js';
import { ChainLog } from './chain-log.js';
import type { AuditPort } from './port.js';
import { loadSigningKey, type SigningKey } from './signing-key.js';
import { verifyFolders } from './verify.js';

export interface AuditLogOptions {
  /** Folder of the chains; see `auditFolder`. */
  folder: string;
  /** The private key of PARLEY_AUDIT_KEY_FILE; null: one that is made in the folder. */
  keyFile: string | null;
  now: () => number;
}

/** Checks an entry of our own making. @throws ParleyError invalid_request */
const checkEntry = (entry: unknown): void => {
  const parsed = auditEntrySchema.safeParse(entry);
  if (parsed.success) return;
  const words = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  throw new ParleyError('invalid_request', `This cannot be recorded: ${words}.`);
};

/** The audit log of this installation. Nothing is made before the first entry; a key that is exchanged begins a new chain. */
export const createAuditLog = ({ folder, keyFile, now }: AuditLogOptions): AuditPort & { close(): void } => {
  let open: { key: SigningKey; log: ChainLog } | null = null;
  const opened = (): { key: SigningKey; log: ChainLog } => {
    if (open) return open;
    const key = loadSigningKey(folder, keyFile);
    return (open = { key, log: new ChainLog(chainFolder(join(folder, key.chain)), key.chain) });
  };
  return {
    append: async (entries, signal) => {
      for (const entry of entries) checkEntry(entry);
      if (entries.length === 0) return [];
      const { key, log } = opened();
      return await log.append(entries, key, now, signal);
    },
    close: () => {
      open?.log.close();
      open = null;
    },
  };
};

const cursorPattern = /^(?<chain>[0-9a-f]{16})\.(?<seq>\d{1,15})$/;

export interface AuditReaderOptions {
  /** Folder of the chains; see `auditFolder`. */
  folder: string;
  /** Whether the workers that write it may be on other machines: no folder is then no empty log. */
  isApart?: boolean;
}

/** The chains in the folder, for reading; those that come to be later are found too. */
export const createAuditReader = ({ folder, isApart = false }: AuditReaderOptions): AuditReader => {
  const logs = new Map<string, ChainLog>();
  const chains = (): ChainFolder[] => {
    if (existsSync(folder)) return chainsAt(folder);
    if (!isApart) return [];
    throw new ParleyError(
      'unavailable',
      `There is no audit log here: this gateway runs apart from its workers, and the log lies with them. There, parley audit verify and parley audit export read it.`,
    );
  };
  const found = (): ChainLog[] =>
    chains().map((files) => {
      const chain = basename(files.folder);
      const log = logs.get(chain) ?? new ChainLog(files, chain);
      logs.set(chain, log);
      return log;
    });
  const cursorOf = (after: string | undefined): { chain: string; seq: number } | null => {
    if (after === undefined) return null;
    const { chain, seq } = cursorPattern.exec(after)?.groups ?? {};
    if (chain === undefined || seq === undefined)
      throw new ParleyError('invalid_request', `must be next_after of the page before; got ${JSON.stringify(after)}`, {
        details: { path: 'query.after' },
      });
    return { chain, seq: Number(seq) };
  };
  let checking: ReturnType<AuditReader['verification']> | null = null;
  return {
    list: async ({ work, tenant, after, limit }, signal) => {
      const cursor = cursorOf(after);
      const items: AuditRecord[] = [];
      for (const log of found()) {
        if (cursor && log.chain < cursor.chain) continue;
        const from = cursor?.chain === log.chain ? cursor.seq : 0;
        // One more than asked for tells whether there is a next page.
        const query = { work, tenant, after: from, limit: limit + 1 - items.length };
        items.push(...(await log.list(query, signal)));
        if (items.length > limit) break;
      }
      const page = items.slice(0, limit);
      const last = page.at(-1);
      return { items: page, next_after: items.length > limit && last ? `${last.chain}.${last.seq}` : null };
    },
    // A check reads everything: whoever asks meanwhile gets the answer of the one that runs.
    verification: async () =>
      await (checking ??= verifyFolders(chains().map((files) => files.folder)).finally(() => (checking = null))),
    close: () => {
      for (const log of logs.values()) log.close();
      logs.clear();
    },
  };
};
