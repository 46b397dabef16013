import { jsonrepair } from 'jsonrepair';

/** Nearly-JSON of a model (single quotes, trailing commas) as a value; undefined: it cannot be mended, and is told as unreadable. */
export const mend = (text: string): unknown => {
  try {
    return JSON.parse(jsonrepair(text)) as unknown;
  } catch {
    return undefined;
  }
};
