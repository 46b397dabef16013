import { createHash } from 'node:crypto';

/** What a keyword takes on every store that Temporal has. */
const mostChars = 255;
const prefix = 'a2a ';
const digest = /^a2a sha256 [0-9a-f]{64}$/;

/**
 * What work is called by the conversation that it belongs to: nothing that people call work, short, however long that is, and without
 * the one character that queries cannot hold.
 */
export const contextName = (context: string): string => {
  const name = prefix + context;
  return name.length <= mostChars && !name.includes('\0') && !digest.test(name)
    ? name
    : `${prefix}sha256 ${createHash('sha256').update(context).digest('hex')}`;
};

/** The conversation by that name; null: it is called otherwise, or its name does not tell. */
export const contextIn = (name: string | undefined): string | null =>
  name?.startsWith(prefix) && !digest.test(name) ? name.slice(prefix.length) : null;
