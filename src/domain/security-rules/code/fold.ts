import { byProgram } from '../by-program.js';
import { homePath } from '../place.js';
import { fromBase64, fromHex, translated } from '../shell/decode.js';
import type { Language } from '../shell/invocation.js';
import { concat, decodedText, isKnown, mapText, plain, unknown, type Text } from '../shell/text.js';
import { decodedValue, textValue, unknownValue, type Value } from './value.js';

type Fold = (
  args: readonly Value[],
  receiver: Value,
  chain: readonly string[],
  language: Language,
) => Value | undefined;

const decoding =
  (decode: (text: string) => string | undefined): Fold =>
  ([source]) => {
    const text = source && isKnown(source.text) ? decode(source.text.text) : undefined;
    return text === undefined ? decodedValue : textValue(decodedText(text));
  };
const base64 = decoding(fromBase64);
const hex = decoding(fromHex);

const joined = (values: readonly Value[], by: string): Text =>
  concat([plain(''), ...values.flatMap(({ text }, index) => (index > 0 ? [plain(by), text] : [text]))]);

/** Paths put together; in Python an absolute one starts anew. */
const joinPaths: Fold = (args, _receiver, _chain, language) => {
  const last = language === 'python' ? args.findLastIndex(({ text }) => /^[/~]/.test(text.text)) : 0;
  return textValue(joined(args.slice(Math.max(0, last)), '/'));
};

const join: Fold = (args, receiver, chain, language) => {
  if (/^(?:path|File|posix|posixpath)$/.test(chain.at(-2) ?? '')) return joinPaths(args, receiver, chain, language);
  if (args.some(({ text }) => text.isDecoded)) return decodedValue;
  if (receiver.items) return textValue(joined(receiver.items, args[0]?.text.text ?? ','));
  return args[0]?.items ? textValue(joined(args[0].items, receiver.text.text)) : undefined;
};

const buffer: Fold = (args, receiver, chain, language) => {
  if (chain.at(-2) !== 'Buffer') return undefined;
  const form = args[1]?.text.text ?? '';
  if (/^base64/.test(form)) return base64(args, receiver, chain, language);
  return form === 'hex' ? hex(args, receiver, chain, language) : args[0];
};

const codec: Fold = (args, receiver, chain, language) => {
  const form = args[1]?.text.text ?? '';
  if (chain.at(-2) !== 'codecs') return receiver;
  if (/rot/.test(form))
    return decoding((text) => translated(text, 'a-zA-Z', 'n-za-mN-ZA-M', false))(args, receiver, chain, language);
  return /64/.test(form) ? base64(args, receiver, chain, language) : hex(args, receiver, chain, language);
};

const characters: Fold = (args) =>
  args.length > 0 && args.every(({ text }) => /^(?:0x[0-9a-f]{1,6}|\d{1,7})$/i.test(text.text))
    ? textValue(plain(args.map(({ text }) => String.fromCodePoint(Math.min(Number(text.text), 0x10ffff))).join('')))
    : decodedValue;

const same: Fold = ([first]) => first && textValue(first.text);
const own: Fold = (_args, receiver) => receiver;
const home: Fold = () => textValue(plain(homePath));
const here: Fold = () => textValue(plain('.'));
const passing: Fold = () => textValue(plain('/tmp/x'));
const decodedSomehow: Fold = () => decodedValue;
const module: Fold = ([name]) => name && { ...unknownValue, chain: [name.text.text] };

const folds: ReadonlyMap<string, Fold> = byProgram<Fold>([
  ['join', join],
  [
    'expanduser',
    ([path]) =>
      path && textValue(mapText(path.text, (text) => (text.startsWith('~') ? homePath + text.slice(1) : text))),
  ],
  ['expandvars', same],
  [
    'Path PurePath PosixPath Pathname',
    ((args, receiver, chain, language) => ({
      text: joinPaths(args, receiver, chain, language)?.text ?? plain('.'),
      chain: ['Path'],
    })) as Fold,
  ],
  ['home', home],
  ['homedir', home],
  ['getenv', ([name]) => (name?.text.text === 'HOME' ? textValue(plain(homePath)) : undefined)],
  [
    'get',
    ([name], _receiver, chain) =>
      name?.text.text === 'HOME' && /^(?:environ|env)$/.test(chain.at(-2) ?? '')
        ? textValue(plain(homePath))
        : undefined,
  ],
  ['cwd getcwd pwd', here],
  ['tmpdir gettempdir mkdtemp mkdtempSync mktmpdir sys_get_temp_dir', passing],
  [
    'resolve',
    (args, receiver, chain, language) => (args.length > 0 ? joinPaths(args, receiver, chain, language) : receiver),
  ],
  [
    'abspath realpath realpathSync normpath normalize str String bytes bytearray fspath quote glob globSync list expand_path',
    same,
  ],
  [
    'b64decode standard_b64decode urlsafe_b64decode decodebytes atob base64_decode decode_base64 decode64 strict_decode64',
    base64,
  ],
  ['fromhex unhexlify a2b_hex hex2bin', hex],
  [
    'decompress loads inflate inflateSync gunzipSync gzinflate gzuncompress str_rot13 unpack unpack1 pack',
    decodedSomehow,
  ],
  ['from', buffer],
  ['decode', codec],
  ['chr fromCharCode fromCodePoint char', characters],
  ['toString encode strip trim absolute as_posix to_s rstrip read', own],
  [
    'getattr',
    ([object, name]) => object && name && { ...unknownValue, chain: [...(object.chain ?? []), name.text.text] },
  ],
  ['require __import__ import_module createRequire', module],
  ['sockaddr_in pack_sockaddr_in', ((args) => ({ ...unknownValue, items: args })) as Fold],
  ['inet_aton', same],
  [
    'replace',
    ([from, to], receiver) =>
      from && to && isKnown(receiver.text)
        ? textValue(mapText(receiver.text, (text) => text.split(from.text.text).join(to.text.text)))
        : undefined,
  ],
  [
    'split',
    ([by], receiver) =>
      isKnown(receiver.text) && receiver.text.text.length < 4_096
        ? { ...receiver, items: receiver.text.text.split(by?.text.text ?? ' ').map((piece) => textValue(plain(piece))) }
        : undefined,
  ],
  ['reverse', (_args, receiver) => (receiver.items ? { ...receiver, items: receiver.items.toReversed() } : undefined)],
  [
    'format',
    (args, receiver) =>
      textValue(
        concat([
          plain(''),
          ...receiver.text.text
            .split(/\{[\w.]{0,40}\}/)
            .flatMap((piece, index) =>
              index > 0 ? [args[index - 1]?.text ?? unknown('input'), plain(piece)] : [plain(piece)],
            ),
        ]),
      ),
  ],
]);

/** The value of a call whose result follows from its arguments; undefined for the others. */
export const folded = (
  name: string,
  chain: readonly string[],
  args: readonly Value[],
  receiver: Value,
  language: Language,
): Value | undefined => folds.get(name)?.(args, receiver, chain, language);
