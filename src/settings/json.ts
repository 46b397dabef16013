import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';

/** Of a name that a record does not take zod says that it is wrong, and why beside that. */
const reasonOf = (issue: z.core.$ZodIssue): string =>
  issue.code === 'invalid_key' ? issue.issues.map(({ message }) => message).join('; ') : issue.message;

/** JSON out of a variable's text by `read`; each fault names its place and an example. `unread`: why there is no JSON, in words. */
const parsed = <S extends z.ZodType>(
  schema: S,
  example: string,
  read: (text: string) => string,
  unread: (reason: string) => string,
) =>
  z.string().transform((text, context): z.output<S> => {
    const fault = (message: string): void => context.addIssue({ code: 'custom', message });
    let value: unknown;
    try {
      value = JSON.parse(read(text));
    } catch (error) {
      fault(`must be JSON such as ${example}${unread(error instanceof Error ? error.message : String(error))}`);
      return z.NEVER;
    }
    const { success, data, error } = schema.safeParse(value);
    if (success) return data;
    for (const issue of error.issues) {
      const where = issue.path.length > 0 ? `${issue.path.join('.')}: ` : '';
      fault(`${where}${reasonOf(issue)}; an example: ${example}`);
    }
    return z.NEVER;
  });

/** A variable of the environment that is JSON. */
export const json = <S extends z.ZodType>(schema: S, example: string) =>
  parsed(
    schema,
    example,
    (text) => text,
    () => '',
  );

/** A variable of the environment that is JSON, or the path of a file that holds it. */
export const jsonOrFile = <S extends z.ZodType>(schema: S, example: string) =>
  parsed(
    schema,
    example,
    (text) => (text.trimStart().startsWith('{') ? text : readFileSync(resolve(text.trim()), 'utf8')),
    (reason) => `, or the path of a file that holds it: ${reason}`,
  );
