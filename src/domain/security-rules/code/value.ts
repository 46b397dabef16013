import { emptyText, unknown, type Text } from '../shell/text.js';

/** What an expression of program text is worth to the rules. */
export interface Value {
  readonly text: Text;
  /** Of a list: its elements. */
  readonly items?: readonly Value[];
  /** The names that lead to it, as `os.path.join`. */
  readonly chain?: readonly string[];
}

export const nothing: Value = { text: emptyText };
export const unknownValue: Value = { text: unknown('input') };
export const textValue = (text: Text): Value => ({ text });
/** What a decoder made of text that is not known. */
export const decodedValue: Value = { text: { ...unknown('input'), isDecoded: true } };
