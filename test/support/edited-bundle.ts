import { readFileSync, writeFileSync } from 'node:fs';

export interface Edit {
  /** What occurs in it, however often. */
  from: RegExp;
  /** As `String.replace` takes it. */
  to: string;
}

/**
 * Writes the bundle of the workflows as it would be after edits of its sources: these are of its own text, as the bundler
 * writes it, which costs nothing.
 * @throws Error where the bundle does not hold a text that is to be another
 */
export const writeEditedBundle = (path: string, edits: readonly Edit[]): void => {
  const bundle = readFileSync(process.env['TEST_WORKFLOW_BUNDLE'] ?? '', 'utf8');
  const edited = edits.reduce((code, { from, to }) => {
    const after = code.replace(new RegExp(from, 'g'), to);
    if (after === code) throw new Error(`the bundle of the workflows holds no ${from}`);
    return after;
  }, bundle);
  writeFileSync(path, edited);
};
