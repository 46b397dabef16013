import { remoteCommand } from '../shell/containers.js';
import { Options } from '../shell/options.js';
import { slice, type Text } from '../shell/text.js';
import { connect, type ConnectReading as Reading } from './connect.js';
import { isRemotePath } from './hosts.js';

const isPipe = ({ text }: Text): boolean => text === '-' || text === '/dev/stdin' || text === '.';

/** `@file` as a file, or as what comes in. */
const fromFile = (word: Text, mark: RegExp): Text | undefined => {
  const match = mark.exec(word.text);
  return match ? slice(word, match[0].length) : undefined;
};

const curlValues =
  'o output H header d data data-raw data-binary data-ascii data-urlencode json F form form-string T upload-file X request u user A user-agent e referer b cookie c cookie-jar ' +
  'x proxy connect-timeout m max-time retry retry-delay w write-out K config url output-dir E cert key cacert resolve r range D dump-header Q quote limit-rate interface preproxy oauth2-bearer';
export const curl: Reading = (args, { stdin }) => {
  const options = new Options(args, curlValues);
  const urls = [...options.operands, ...options.values('url')];
  const bodies = [
    ...options.values('d', 'data', 'data-binary', 'data-ascii', 'json').map((word) => fromFile(word, /^@/)),
    ...options.values('data-urlencode').map((word) => fromFile(word, /^[^@=]{0,80}@/)),
    ...options.values('F', 'form').map((word) => fromFile(word, /^[^=]{0,200}=[@<]/)),
    ...options.values('T', 'upload-file', 'K', 'config'),
  ].filter((file) => file !== undefined);
  const method = options.value('X', 'request')?.text ?? '';
  const isSend =
    bodies.length > 0 ||
    options.has('d', 'data', 'data-raw', 'data-binary', 'data-urlencode', 'json', 'F', 'form', 'form-string', 'T') ||
    /^(?:POST|PUT|PATCH|DELETE)$/i.test(method);
  const files = bodies
    .filter((file) => !isPipe(file))
    .map((file) => ({ ...file, text: file.text.split(';', 1)[0] ?? '' }));
  const sends = [...args, ...(bodies.some(isPipe) ? [stdin] : [])];
  return (urls.length > 0 ? urls : [undefined]).map((url) => connect(url, isSend ? 'send' : 'fetch', sends, files));
};

export const wget: Reading = (args) => {
  const options = new Options(
    args,
    'O output-document P directory-prefix o output-file a i input-file header post-file post-data method body-file body-data user password e execute U user-agent t tries T timeout Q l level A R D I X w referer ca-certificate',
  );
  const files = options.values('post-file', 'body-file');
  const isSend = files.length > 0 || options.has('post-data', 'body-data');
  return options.operands.map((url) => connect(url, isSend ? 'send' : 'fetch', args, files));
};

export const httpie: Reading = (args, { stdin }) => {
  const { operands } = new Options(args, 'a auth o output s style p print v');
  const hasMethod = /^[A-Z]{3,7}$/.test(operands[0]?.text ?? '');
  const [url, ...items] = hasMethod ? operands.slice(1) : operands;
  const files = items.flatMap((item) => fromFile(item, /^[^=@]{0,80}(?::=|=)?@/) ?? []);
  const isSend =
    items.some(({ text }) => /[=@]/.test(text)) || (hasMethod && operands[0]?.text !== 'GET') || stdin.text !== '';
  return url ? [connect(url, isSend ? 'send' : 'fetch', [...args, stdin], files)] : [];
};

export const netcat: Reading = (args, { stdin, redirections }) => {
  const options = new Options(args, 'w p e c exec sh-exec s i q X x proxy lua-exec');
  const [host] = options.operands;
  const files = redirections.filter(({ access }) => access === 'read').map(({ target }) => target);
  if (options.has('e', 'c', 'exec', 'sh-exec', 'lua-exec')) return [connect(host, 'shell')];
  if (options.has('l', 'listen'))
    return [connect(host && !/^\d+$/.test(host.text) ? host : undefined, 'listen', [stdin], files)];
  if (options.has('z')) return host ? [connect(host, 'fetch')] : [];
  return host ? [connect(host, 'send', [stdin, ...args], files)] : [];
};

/** The address that socat's `bind=` names. */
const boundTo = (address: Text): Text | undefined => {
  const at = address.text.indexOf('bind=');
  return at === -1 ? undefined : slice(address, at + 5);
};

export const socat: Reading = (args, { stdin }) => {
  const addresses = new Options(args, 'b t T L W').operands;
  const startsProgram = addresses.some(({ text }) => /^(?:EXEC|SYSTEM|SHELL):/i.test(text));
  return addresses.flatMap((address) => {
    const match =
      /^(?:TCP|UDP|OPENSSL|SSL|TCP4|TCP6|UDP4|SOCKS4A?|PROXY|SCTP)(?:-(CONNECT|LISTEN|DATAGRAM|SENDTO))?:/i.exec(
        address.text,
      );
    if (!match) return [];
    const host = slice(address, match[0].length);
    if (startsProgram) return [connect(host, 'shell')];
    return [/LISTEN/i.test(match[0]) ? connect(boundTo(address), 'listen', [stdin]) : connect(host, 'send', [stdin])];
  });
};

export const ssh: Reading = (args, { stdin, redirections }) => {
  const { host } = remoteCommand(args);
  const files = redirections.filter(({ access }) => access === 'read').map(({ target }) => target);
  return host ? [connect(host, 'shell', [stdin, ...args.slice(1)], files)] : [];
};

/** Copies between machines: the last word says in which direction. */
export const copying =
  (takesValue: string): Reading =>
  (args) => {
    const { operands } = new Options(args, takesValue);
    const target = operands.at(-1);
    const sources = operands.slice(0, -1);
    if (target && isRemotePath(target))
      return [
        connect(
          target,
          'send',
          [],
          sources.filter((path) => !isRemotePath(path)),
        ),
      ];
    return sources.filter(isRemotePath).map((source) => connect(source, 'fetch'));
  };

/** A session that is fed from standard input. */
export const interactive: Reading = (args, { stdin }) => {
  const [host] = new Options(args, 'P p u e c b i o F l').operands;
  return host ? [connect(host, 'send', [stdin, ...args])] : [];
};
