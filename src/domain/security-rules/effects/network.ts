import { containerPrograms, remoteCommand } from '../shell/containers.js';
import type { Invocation } from '../shell/invocation.js';
import { Options } from '../shell/options.js';
import { plain, slice, type Text } from '../shell/text.js';
import type { Effect } from './effect.js';
import { isRemotePath, isUrl } from './hosts.js';

type Connect = Extract<Effect, { does: 'connect' }>;
type Reading = (args: readonly Text[], invocation: Invocation) => Connect[];

const connect = (
  host: Text | undefined,
  how: Connect['how'],
  sends: readonly Text[] = [],
  sendsFiles: readonly Text[] = [],
): Connect => ({ does: 'connect', host, how, sends, sendsFiles });

const isPipe = ({ text }: Text): boolean => text === '-' || text === '/dev/stdin' || text === '.';

/** `@file` as a file, or as what comes in. */
const fromFile = (word: Text, mark: RegExp): Text | undefined => {
  const match = mark.exec(word.text);
  return match ? slice(word, match[0].length) : undefined;
};

const curlValues =
  'o output H header d data data-raw data-binary data-ascii data-urlencode json F form form-string T upload-file X request u user A user-agent e referer b cookie c cookie-jar ' +
  'x proxy connect-timeout m max-time retry retry-delay w write-out K config url output-dir E cert key cacert resolve r range D dump-header Q quote limit-rate interface preproxy oauth2-bearer';
const curl: Reading = (args, { stdin }) => {
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

const wget: Reading = (args) => {
  const options = new Options(
    args,
    'O output-document P directory-prefix o output-file a i input-file header post-file post-data method body-file body-data user password e execute U user-agent t tries T timeout Q l level A R D I X w referer ca-certificate',
  );
  const files = options.values('post-file', 'body-file');
  const isSend = files.length > 0 || options.has('post-data', 'body-data');
  return options.operands.map((url) => connect(url, isSend ? 'send' : 'fetch', args, files));
};

const httpie: Reading = (args, { stdin }) => {
  const { operands } = new Options(args, 'a auth o output s style p print v');
  const hasMethod = /^[A-Z]{3,7}$/.test(operands[0]?.text ?? '');
  const [url, ...items] = hasMethod ? operands.slice(1) : operands;
  const files = items.flatMap((item) => fromFile(item, /^[^=@]{0,80}(?::=|=)?@/) ?? []);
  const isSend =
    items.some(({ text }) => /[=@]/.test(text)) || (hasMethod && operands[0]?.text !== 'GET') || stdin.text !== '';
  return url ? [connect(url, isSend ? 'send' : 'fetch', [...args, stdin], files)] : [];
};

const netcat: Reading = (args, { stdin, redirections }) => {
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

const socat: Reading = (args, { stdin }) => {
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

const ssh: Reading = (args, { stdin, redirections }) => {
  const { host } = remoteCommand(args);
  const files = redirections.filter(({ access }) => access === 'read').map(({ target }) => target);
  return host ? [connect(host, 'shell', [stdin, ...args.slice(1)], files)] : [];
};

/** Copies between machines: the last word says in which direction. */
const copying =
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

const session: Reading = (args, { stdin }) => {
  const [host] = new Options(args, 'P p u e c b i o F l').operands;
  return host ? [connect(host, 'send', [stdin, ...args])] : [];
};

const git: Reading = (args) => {
  const [verb, ...rest] = new Options(args, 'C c git-dir work-tree namespace exec-path', 'at operand').operands;
  const options = new Options(
    rest,
    'b branch o origin depth reference template c config j jobs filter upload-pack u receive-pack exec push-option',
  );
  const [first, second] = options.operands;
  const url = first && isRemotePath(first) ? first : undefined;
  switch (verb?.text) {
    case 'clone':
      return url ? [connect(url, 'fetch')] : [];
    case 'fetch':
    case 'pull':
    case 'ls-remote':
      return !first || isRemotePath(first) || !/^[./]/.test(first.text) ? [connect(url, 'fetch')] : [];
    case 'push':
      return options.has('n', 'dry-run') || /^(?:\.{0,2}\/|file:)/.test(first?.text ?? '')
        ? []
        : [connect(url, 'publish')];
    case 'remote':
      return first?.text === 'update' || first?.text === 'show' ? [connect(undefined, 'fetch')] : [];
    case 'submodule':
      return first?.text === 'add' || (first?.text === 'update' && options.has('remote', 'init'))
        ? [connect(second, 'fetch')]
        : [];
    case 'send-email':
    case 'svn':
      return [connect(undefined, 'publish')];
    default:
      return [];
  }
};

/** A program that publishes by one of its words. */
const publishing =
  (words: RegExp, takesValue = ''): Reading =>
  (args) => {
    const options = new Options(args, takesValue);
    const line = options.operands
      .slice(0, 3)
      .map(({ text }) => text)
      .join(' ');
    return words.test(line) && !options.has('dry-run', 'n') ? [connect(undefined, 'publish', args)] : [];
  };

/** Whatever the arguments are: the first operand names a host. */
const lookup: Reading = (args) => {
  const { operands } = new Options(args, 'c i t w s p T q W m b k');
  const host = operands.find(({ text }) => !/^@|^[A-Z]{1,6}$/.test(text)) ?? operands[0];
  return host
    ? [
        connect(
          host,
          args.some(({ holes }) => holes.some(({ producers }) => producers.length > 0)) ? 'send' : 'fetch',
          args,
        ),
      ]
    : [];
};

const cloud: Reading = (args) => {
  const { operands } = new Options(args, 'region profile output query project zone format subscription resource-group');
  const words = operands.map(({ text }) => text);
  const at = words.findIndex((word) => /^(?:cp|sync|mv|rsync|upload|put|copy|push)$/.test(word));
  const bucket = /^(?:s3|gs|b2|az|https?):\/\//;
  const target = operands.at(-1);
  if (at !== -1 && target && (bucket.test(target.text) || words.includes('upload'))) {
    const sources = operands.slice(at + 1, -1).filter(({ text }) => !bucket.test(text));
    if (sources.length > 0 || words.includes('upload'))
      return [connect(target, 'send', args, sources.length > 0 ? sources : [plain('.')])];
  }
  return words.length === 0 || /^(?:help|version|configure|config|--version)$/.test(words[0] ?? '')
    ? []
    : [connect(undefined, 'fetch', args)];
};

const rclone: Reading = (args) => {
  const [, ...paths] = new Options(args, 'config transfers checkers').operands;
  const target = paths.at(-1);
  if (!target || paths.length < 2) return [connect(undefined, 'fetch')];
  return isRemotePath(target) ? [connect(target, 'send', [], paths.slice(0, -1))] : [connect(paths[0], 'fetch')];
};

const mail: Reading = (args, { stdin }) => [
  connect(undefined, 'send', [stdin, ...args], new Options(args, 's a A c b r').values('a', 'A')),
];

const forge: Reading = (args) => {
  const [kind, verb] = new Options(args, 'R repo', 'at operand').operands.map(({ text }) => text);
  if (kind === undefined || /^(?:help|version|completion|config|alias)$/.test(kind)) return [];
  const changes =
    /^(?:create|edit|close|merge|delete|upload|comment|review|set|add|fork|sync|transfer|rename|reopen|ready|lock|run|rerun|cancel|enable|disable)$/;
  const files = kind === 'gist' && verb === 'create' ? new Options(args, 'd desc f filename').operands.slice(2) : [];
  return [connect(undefined, changes.test(verb ?? '') ? 'publish' : 'fetch', args, files)];
};

const openssl: Reading = (args, { stdin }) => {
  const target = new Options(args, 'connect host').value('connect', 'host');
  return args[0]?.text === 's_client' && target ? [connect(target, 'send', [stdin])] : [];
};

const table: ReadonlyMap<string, Reading> = new Map<string, Reading>([
  ['curl', curl],
  ['wget', wget],
  ...['http', 'https', 'xh', 'xhs', 'httpie'].map((name) => [name, httpie] as const),
  ...[
    'aria2c',
    'axel',
    'lynx',
    'w3m',
    'links',
    'elinks',
    'youtube-dl',
    'yt-dlp',
    'fetch',
    'lwp-request',
    'GET',
    'websocat',
    'wscat',
    'grpcurl',
  ].map(
    (name) =>
      [
        name,
        ((args) =>
          new Options(args, 'd o O out dir H').operands
            .slice(0, 1)
            .map((url) => connect(url, 'fetch', args))) as Reading,
      ] as const,
  ),
  ...['nc', 'ncat', 'netcat', 'nc.openbsd', 'nc.traditional'].map((name) => [name, netcat] as const),
  ['socat', socat],
  ...['ssh', 'mosh', 'autossh', 'telnet', 'rlogin', 'rsh'].map((name) => [name, ssh] as const),
  ['scp', copying('o S i P F J c l X D')],
  [
    'rsync',
    copying(
      'e rsh rsync-path f filter exclude include exclude-from include-from files-from T log-file bwlimit port password-file chmod chown',
    ),
  ],
  ...['sftp', 'ftp', 'lftp', 'tftp', 'ncftp', 'ftpput', 'smbclient'].map((name) => [name, session] as const),
  ['rclone', rclone],
  ['git', git],
  ...['npm', 'yarn', 'pnpm', 'bun', 'lerna'].map(
    (name) =>
      [
        name,
        publishing(/^(?:npm )?(?:publish|unpublish|deprecate|dist-tag add|owner add|access|star)(?: |$)/),
      ] as const,
  ),
  ['cargo', publishing(/^(?:publish|yank|owner)/)],
  ['gem', publishing(/^(?:push|yank|owner)/)],
  ['twine', publishing(/^upload/)],
  ...[
    'poetry',
    'flit',
    'hatch',
    'uv',
    'pdm',
    'vsce',
    'ovsx',
    'npm-publish',
    'semantic-release',
    'goreleaser',
    'jsr',
    'deno',
  ].map((name) => [name, publishing(/^(?:publish|release)(?: |$)/)] as const),
  ...['mvn', 'gradle', 'gradlew', 'sbt', 'ant', 'mvnw'].map(
    (name) => [name, publishing(/(?:^| )(?:deploy|publish|release:perform|publishPlugins)(?: |$)/)] as const,
  ),
  ...[...containerPrograms].map(
    (name) =>
      [
        name,
        ((args, invocation) => [
          ...publishing(/^(?:image |manifest |compose )?push(?: |$)/)(args, invocation),
          ...(/^(?:pull|login|search)$/.test(args[0]?.text ?? '') ? [connect(undefined, 'fetch', args)] : []),
        ]) as Reading,
      ] as const,
  ),
  ...['helm', 'oras', 'crane', 'skopeo', 'buildah'].map(
    (name) => [name, publishing(/^(?:push|copy|append)(?: |$)/)] as const,
  ),
  ...[
    'vercel',
    'netlify',
    'firebase',
    'fly',
    'flyctl',
    'surge',
    'heroku',
    'serverless',
    'sls',
    'sam',
    'cdk',
    'gh-pages',
    'now',
    'railway',
    'expo',
    'eas',
  ].map(
    (name) =>
      [
        name,
        publishing(/^(?:deploy|publish|up|release|submit|hosting:\w{1,20}|container:push|--prod)?(?: |$)/),
      ] as const,
  ),
  ...['gh', 'glab', 'hub', 'tea'].map((name) => [name, forge] as const),
  ...[
    'aws',
    'gcloud',
    'gsutil',
    'az',
    's3cmd',
    'mc',
    's5cmd',
    'doctl',
    'b2',
    'oci',
    'ibmcloud',
    'linode-cli',
    'hcloud',
  ].map((name) => [name, cloud] as const),
  ...[
    'ping',
    'ping6',
    'dig',
    'nslookup',
    'host',
    'drill',
    'whois',
    'traceroute',
    'tracepath',
    'mtr',
    'nmap',
    'masscan',
    'zmap',
    'hping3',
    'arping',
    'fping',
  ].map((name) => [name, lookup] as const),
  ...['mail', 'mailx', 'sendmail', 'mutt', 'msmtp', 'swaks', 'sendemail', 'ssmtp'].map((name) => [name, mail] as const),
  ...[
    'ngrok',
    'cloudflared',
    'localtunnel',
    'lt',
    'bore',
    'chisel',
    'frpc',
    'tailscale',
    'zrok',
    'openvpn',
    'wg-quick',
  ].map((name) => [name, (() => [connect(undefined, 'listen')]) as Reading] as const),
  ['openssl', openssl],
]);

const shells = /^(?:ba|da|z|k|a|fi|c|tc)?sh$/;
/** `/dev/tcp/host/port`: bash's own connection. */
const devices = ({ program, redirections, stdin, args }: Invocation): Connect[] => {
  const files = /^(?:echo|printf|:)$/.test(program) ? [] : args.filter(({ text }) => !text.startsWith('-'));
  const found = redirections.flatMap(({ target, access }) => {
    const match = /^\/dev\/(?:tcp|udp)\//.exec(target.text);
    return match ? [{ host: slice(target, match[0].length), access }] : [];
  });
  return found.map(({ host, access }) =>
    connect(
      host,
      shells.test(program) || (program === ':' && access === 'write') ? 'shell' : access === 'write' ? 'send' : 'fetch',
      [stdin, ...args],
      access === 'write' ? files : [],
    ),
  );
};

/** Connections that an invocation makes, and what leaves the machine by them. */
export const networkEffects = (invocation: Invocation): Effect[] => [
  ...devices(invocation),
  ...(table.get(invocation.program)?.(invocation.args, invocation) ?? []).filter(
    ({ host }) => !(host && isUrl(host) && host.text.startsWith('file:')),
  ),
];
