import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';

/** A variable of the environment that is JSON, or the path of a file that holds it; each fault names its place and an example. */
export const jsonOrFile = <S extends z.ZodType>(schema: S, example: string) =>
  z.string().transform((text, context): z.output<S> => {
    const isInline = text.trimStart().startsWith('{');
    const fault = (message: string): void => context.addIssue({ code: 'custom', message });
    let value: unknown;
    try {
      value = JSON.parse(isInline ? text : readFileSync(resolve(text.trim()), 'utf8'));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      fault(`must be JSON such as ${example}, or the path of a file that holds it: ${reason}`);
      return z.NEVER;
    }
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const { path, message } of parsed.error.issues)
      fault(`${path.length > 0 ? `${path.join('.')}: ` : ''}${message}; an example: ${example}`);
    return z.NEVER;
  });
