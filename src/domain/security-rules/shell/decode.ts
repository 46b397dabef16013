const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

const values: ReadonlyMap<string, number> = new Map(alphabet.split('').map((character, index) => [character, index]));

/** Bytes as text, one character for each byte below 128; the rest become U+FFFD, which no command holds. */
const asText = (bytes: readonly number[]): string => {
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; start += 4_096) {
    parts.push(String.fromCharCode(...bytes.slice(start, start + 4_096).map((byte) => (byte < 128 ? byte : 0xfffd))));
  }
  return parts.join('');
};

/** RFC 4648, either alphabet, blanks and padding passed over; undefined where another character stands. */
export const fromBase64 = (text: string): string | undefined => {
  const bytes: number[] = [];
  let buffer = 0;
  let bits = 0;
  for (const character of text) {
    if (/[\s=]/.test(character)) continue;
    const value = values.get(character === '-' ? '+' : character === '_' ? '/' : character);
    if (value === undefined) return undefined;
    buffer = ((buffer << 6) | value) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((buffer >> bits) & 0xff);
    }
  }
  return asText(bytes);
};

/** Pairs of hexadecimal digits; anything else between them is passed over. */
export const fromHex = (text: string): string => {
  const digits = text.replace(/[^0-9a-fA-F]/g, '');
  const bytes: number[] = [];
  for (let index = 0; index + 1 < digits.length; index += 2)
    bytes.push(Number.parseInt(digits.slice(index, index + 2), 16));
  return asText(bytes);
};

const named: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\v',
  e: '\u001b',
  '\\': '\\',
  '"': '"',
  "'": "'",
};

/** Escapes of `echo -e` and `printf`: `\n`, `\x41`, `\101`, `\0101`. */
export const fromEscapes = (text: string): string =>
  text.includes('\\')
    ? text.replace(
        /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|(0?[0-7]{1,3})|(.))/gs,
        (whole, hex?: string, unicode?: string, octal?: string, letter?: string) => {
          const digits = hex ?? unicode;
          if (digits !== undefined) return String.fromCodePoint(Number.parseInt(digits, 16));
          if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
          return named[letter ?? ''] ?? whole;
        },
      )
    : text;

const set = (text: string): string[] => {
  const classes = text
    .replaceAll('[:lower:]', 'a-z')
    .replaceAll('[:upper:]', 'A-Z')
    .replaceAll('[:digit:]', '0-9')
    .replaceAll('[:space:]', ' \t\n');
  const characters = fromEscapes(classes).split('');
  const found: string[] = [];
  for (let index = 0; index < characters.length; index += 1) {
    const [from, dash, to] = [characters[index] as string, characters[index + 1], characters[index + 2]];
    const [first, last] = [from.charCodeAt(0), to?.charCodeAt(0) ?? 0];
    if (dash === '-' && to !== undefined && last >= first && last - first < 256) {
      for (let code = first; code <= last; code += 1) found.push(String.fromCharCode(code));
      index += 2;
    } else found.push(from);
  }
  return found;
};

/** What `tr` makes of a text; with `isDelete` the characters of the first set go. */
export const translated = (text: string, from: string, to: string, isDelete: boolean): string => {
  const targets = set(to);
  const table = new Map(
    set(from).map((character, index) => [character, isDelete ? '' : (targets[index] ?? targets.at(-1) ?? character)]),
  );
  return text
    .split('')
    .map((character) => table.get(character) ?? character)
    .join('');
};
