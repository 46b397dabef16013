import { isIP } from 'node:net';
import { z } from 'zod';

const bare = (name: string): string => {
  const text = name.trim().toLowerCase();
  return text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
};

const hostName = /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;

/** Hosts that webhooks may be at: names, `*.` and a name for all below it, and addresses. */
export const webhookHostsSchema = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map(bare)
      .filter((name) => name !== ''),
  )
  .refine(
    (names) => names.length > 0 && names.every((name) => hostName.test(name) || isIP(name) !== 0),
    'must be host names or addresses with "," between them, such as hooks.example.com,*.internal.example.com,10.0.0.7',
  );
