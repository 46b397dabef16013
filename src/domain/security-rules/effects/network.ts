import { byProgram } from '../by-program.js';
import { containerNames } from '../shell/containers.js';
import type { Invocation } from '../shell/invocation.js';
import { Options } from '../shell/options.js';
import { slice } from '../shell/text.js';
import { connect, type Connect, type ConnectReading as Reading } from './connect.js';
import type { Effect } from './effect.js';
import { isUrl } from './hosts.js';
import { cloud, forge, git, publishing, rclone } from './publishers.js';
import { copying, curl, httpie, interactive, netcat, socat, ssh, wget } from './transfers.js';

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

const mail: Reading = (args, { stdin }) => [
  connect(undefined, 'send', [stdin, ...args], new Options(args, 's a A c b r').values('a', 'A')),
];

const openssl: Reading = (args, { stdin }) => {
  const target = new Options(args, 'connect host').value('connect', 'host');
  return args[0]?.text === 's_client' && target ? [connect(target, 'send', [stdin])] : [];
};

const table: ReadonlyMap<string, Reading> = byProgram<Reading>([
  ['curl', curl],
  ['wget', wget],
  ['http https xh xhs httpie', httpie],
  [
    'aria2c axel lynx w3m links elinks youtube-dl yt-dlp fetch lwp-request GET websocat wscat grpcurl',
    ((args) =>
      new Options(args, 'd o O out dir H').operands.slice(0, 1).map((url) => connect(url, 'fetch', args))) as Reading,
  ],
  ['nc ncat netcat nc.openbsd nc.traditional', netcat],
  ['socat', socat],
  ['ssh mosh autossh telnet rlogin rsh', ssh],
  ['scp', copying('o S i P F J c l X D')],
  [
    'rsync',
    copying(
      'e rsh rsync-path f filter exclude include exclude-from include-from files-from T log-file bwlimit port password-file chmod chown',
    ),
  ],
  ['sftp ftp lftp tftp ncftp ftpput smbclient', interactive],
  ['rclone', rclone],
  ['git', git],
  [
    'npm yarn pnpm bun lerna',
    publishing(/^(?:npm )?(?:publish|unpublish|deprecate|dist-tag add|owner add|access|star)(?: |$)/),
  ],
  ['cargo', publishing(/^(?:publish|yank|owner)/)],
  ['gem', publishing(/^(?:push|yank|owner)/)],
  ['twine', publishing(/^upload/)],
  [
    'poetry flit hatch uv pdm vsce ovsx npm-publish semantic-release goreleaser jsr deno',
    publishing(/^(?:publish|release)(?: |$)/),
  ],
  ['mvn gradle gradlew sbt ant mvnw', publishing(/(?:^| )(?:deploy|publish|release:perform|publishPlugins)(?: |$)/)],
  [
    containerNames,
    (args, invocation) => [
      ...publishing(/^(?:image |manifest |compose |)push(?: |$)/)(args, invocation),
      ...(/^(?:pull|login|search)$/.test(args[0]?.text ?? '') ? [connect(undefined, 'fetch', args)] : []),
    ],
  ],
  ['helm oras crane skopeo buildah', publishing(/^(?:push|copy|append)(?: |$)/)],
  [
    'vercel netlify firebase fly flyctl surge heroku serverless sls sam cdk gh-pages now railway expo eas',
    publishing(/^(?:deploy|publish|up|release|submit|hosting:\w{1,20}|container:push|--prod)?(?: |$)/),
  ],
  ['gh glab hub tea', forge],
  ['aws gcloud gsutil az s3cmd mc s5cmd doctl b2 oci ibmcloud linode-cli hcloud', cloud],
  ['ping ping6 dig nslookup host drill whois traceroute tracepath mtr nmap masscan zmap hping3 arping fping', lookup],
  ['mail mailx sendmail mutt msmtp swaks sendemail ssmtp', mail],
  [
    'ngrok cloudflared localtunnel lt bore chisel frpc tailscale zrok openvpn wg-quick',
    (() => [connect(undefined, 'listen')]) as Reading,
  ],
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
