import type { Combined, Kept } from '../../src/contracts/fan-out-status.js';
import type { Json } from '../../src/contracts/frames.js';

/** Bytes as JSON up to which a combined value stands in status and result. */
export const maxValueBytes = 262_144;
/** The same of what says where the value comes from. */
const maxListBytes = 131_072;
const shownEntries = 100;

const keepLarge = async (
  content: Json,
  mostBytes: number,
  put: (content: Uint8Array) => Promise<Kept>,
): Promise<Kept | null> => {
  const bytes = Buffer.from(JSON.stringify(content));
  return bytes.byteLength > mostBytes ? await put(bytes) : null;
};

/** A combined result as it may pass through history: what is too large is put away as an artifact, and the notes say so. */
export const bounded = async (combined: Combined, put: (content: Uint8Array) => Promise<Kept>): Promise<Combined> => {
  const { value, provenance, conflicts, notes } = combined;
  const kept = {
    value: await keepLarge(value, maxValueBytes, put),
    provenance: await keepLarge(provenance, maxListBytes, put),
    conflicts: await keepLarge(conflicts, maxListBytes, put),
  };
  const said = Object.entries(kept).flatMap(([name, where]) =>
    where === null ? [] : [`${name} has ${where.size_bytes} bytes and is an artifact: sha256:${where.sha256}`],
  );
  if (said.length === 0) return combined;
  return {
    ...combined,
    value: kept.value ? null : value,
    provenance: kept.provenance ? provenance.slice(0, shownEntries) : provenance,
    conflicts: kept.conflicts ? conflicts.slice(0, shownEntries) : conflicts,
    notes: [...notes, ...said],
    kept,
  };
};
