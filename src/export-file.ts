import { createHash } from 'node:crypto';
import { exportFormat, exportSchema, exportVersion, type OpenExport, type WorkExport } from './contracts/export.js';
import { canonicalJson } from './domain/canonical-json.js';
import { isMembers } from './domain/export/changes.js';
import { pathText } from './faults.js';
import { parseWhole } from './parse.js';

const digestOf = (value: unknown): string =>
  `sha256:${createHash('sha256')
    .update(canonicalJson(value ?? null))
    .digest('hex')}`;

/** What each checksum is taken over: the members, each run by itself, and what the document is told by together. */
const partsOf = ({ request, setup, outcome, story, checkpoints, runs, ...about }: OpenExport): [string, unknown][] => [
  ['about', about],
  ['request', request],
  ['setup', setup],
  ['outcome', outcome],
  ['story', story],
  ['checkpoints', checkpoints],
  ...runs.map((run, index): [string, unknown] => [pathText(['runs', index]), run]),
];

const checksumOf = (document: OpenExport): WorkExport['checksum'] => {
  const parts = Object.fromEntries(partsOf(document).map(([name, value]) => [name, digestOf(value)]));
  return { whole: digestOf(parts), parts };
};

/** A document with the checksums of what it says. */
export const sealed = (document: OpenExport): WorkExport => ({ ...document, checksum: checksumOf(document) });

/** A document without its checksums. */
export const opened = (sealedDocument: WorkExport): OpenExport => {
  const { checksum: _, ...document } = sealedDocument;
  return document;
};

/** Parts that are not what they were when the document was sealed, in words. */
const changedParts = (document: WorkExport): string[] => {
  const now = checksumOf(opened(document));
  const { parts, whole } = document.checksum;
  const names = [...new Set([...Object.keys(parts), ...Object.keys(now.parts)])];
  const changed = names
    .filter((name) => parts[name] !== now.parts[name])
    .map((name) => {
      if (parts[name] === undefined) return `${name} was added`;
      return now.parts[name] === undefined ? `${name} was removed` : `${name} was changed`;
    });
  return changed.length > 0 || whole === now.whole ? changed : ['the checksum itself was changed'];
};

/** What a text is instead of an export, where it is none; `edited`: it is one, changed since it was written. */
export type ReadExport =
  | { document: WorkExport; edited: string[] }
  | { document: null; problem: string; faults: { path: string; message: string }[] };

/** `line 3, column 7` of a position. */
const placeOf = (text: string, position: number): string => {
  const before = text.slice(0, position).split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
};

const whyNoJson = (text: string, error: Error): string => {
  if (text.trim() === '') return 'it is empty';
  const [, position] = /position (\d+)/.exec(error.message) ?? [];
  if (/end of JSON input|Unterminated string/.test(error.message) || Number(position) >= text.trimEnd().length)
    return `it ends in the middle, at ${placeOf(text, text.length)}: it was cut off`;
  const why = error.message.replace(/ in JSON at position.*$/s, '');
  return `it is no JSON${position === undefined ? '' : ` at ${placeOf(text, Number(position))}`}: ${why}`;
};

/** Reads an export from its text; a fault says where it is and what would be right. */
export const readExport = (text: string): ReadExport => {
  const no = (problem: string, faults: { path: string; message: string }[] = []): ReadExport => ({
    document: null,
    problem,
    faults,
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return no(whyNoJson(text, error as Error));
  }
  if (!isMembers(value) || value['format'] !== exportFormat)
    return no(
      `it is no export: its "format" must be "${exportFormat}"; write one with parley export run ID --output FILE`,
    );
  const { version } = value;
  if (typeof version === 'number' && version !== exportVersion)
    return no(
      version > exportVersion
        ? `it is of version ${version}, and this Parley reads version ${exportVersion}: take a newer one`
        : `it is of version ${version}, which this Parley does not read any more: export the work again`,
    );
  const parsed = parseWhole(exportSchema, value);
  if (!parsed.ok) return no('it is no whole export', parsed.faults);
  return { document: parsed.value, edited: changedParts(parsed.value) };
};

/**
 * An export as text, in pieces: one run after another, as they may be large. Together they are JSON that people can read and
 * edit, two spaces deep.
 */
export const exportPieces = (document: WorkExport): string[] => {
  const { runs, checksum, ...rest } = document;
  const inner = (value: unknown, depth: number): string =>
    JSON.stringify(value, null, 2).replaceAll('\n', `\n${' '.repeat(depth)}`);
  const head = JSON.stringify(rest, null, 2).replace(/\n\}$/, '');
  return [
    `${head},\n  "runs": [\n    `,
    ...runs.map((run, index) => `${index === 0 ? '' : ',\n    '}${inner(run, 4)}`),
    `\n  ],\n  "checksum": ${inner(checksum, 2)}\n}\n`,
  ];
};
