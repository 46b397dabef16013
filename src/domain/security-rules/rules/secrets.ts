import { hostOf, isLocal, isMetadata } from '../effects/hosts.js';
import { shownPath } from '../place.js';
import { plain, shown, slice, type Text } from '../shell/text.js';
import { effectsThat, type Check, type Subject } from './check.js';
import { isSecretPath } from './paths.js';

/** Keys by the forms that their makers gave them. */
const keys: readonly (readonly [string, RegExp])[] = [
  ['an AWS access key', /\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b/],
  ['a GitHub token', /\bgh[pousr]_[A-Za-z0-9]{16,255}|\bgithub_pat_[A-Za-z0-9_]{20,255}/],
  ['a GitLab token', /\bglpat-[A-Za-z0-9_-]{16,64}/],
  ['an API key', /\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{16,255}|\b[sr]k_(?:live|test)_[A-Za-z0-9]{10,99}/],
  ['a Slack token', /\bxox[abeoprs]-[A-Za-z0-9-]{10,255}|hooks\.slack\.com\/services\/[A-Za-z0-9/]{20,80}/],
  ['a Google key', /\bAIza[0-9A-Za-z_-]{35}|\bya29\.[0-9A-Za-z_-]{20,255}/],
  [
    'a registry token',
    /\bnpm_[A-Za-z0-9]{30,64}|\bpypi-[A-Za-z0-9_-]{40,255}|\bhf_[A-Za-z0-9]{30,64}|\bdckr_pat_[A-Za-z0-9_-]{20,64}/,
  ],
  [
    'a service token',
    /\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}|\bdop_v1_[a-f0-9]{64}|\bshpat_[a-fA-F0-9]{32}|\bhvs\.[A-Za-z0-9_-]{20,255}/,
  ],
  ['a signed token', /\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{10,2000}/],
  ['a private key', /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK|)-----/],
  [
    'a token in a header',
    /\bauthorization['"]?\s{0,4}[:=]\s{0,4}['"]?(?:bearer|basic|token|apikey)\s{1,4}(?![$<{*\uFFFC])[A-Za-z0-9._~+/=-]{8,2000}/i,
  ],
];

/** Names of variables and options whose value is a secret. */
const secretName =
  /(?:^|[_-])(?:password|passwd|passphrase|secret|secret[_-]?key|secret[_-]?access[_-]?key|token|api[_-]?key|apikey|access[_-]?key|auth[_-]?token|private[_-]?key|credentials|pgpassword|mysql[_-]?pwd|sshpass)$/i;
const isNamePart = (character: string | undefined): boolean =>
  character !== undefined && /[A-Za-z0-9_-]/.test(character);

/** One would do; a few more make a better sentence. */
const maxPairs = 50;

/** `name=value` anywhere in a text; from one `=` to the next, so that long texts take one walk. */
const assignments = (text: string): { name: string; value: string }[] => {
  const pairs: { name: string; value: string }[] = [];
  for (let at = text.indexOf('='); at !== -1 && pairs.length < maxPairs; at = text.indexOf('=', at + 1)) {
    const end = text[at - 1] === ' ' ? at - 1 : at;
    let start = end;
    while (start > 0 && end - start < 80 && isNamePart(text[start - 1])) start -= 1;
    const name = text.slice(start, end).replace(/^-+/, '');
    if (!secretName.test(name)) continue;
    const value = /^ ?["']?([^\s"'&;,)}]{0,400})/.exec(text.slice(at + 1, at + 410))?.[1] ?? '';
    pairs.push({ name, value });
  }
  return pairs;
};

/** Host and password of the URLs in a text that hold one. */
const credentials = (text: string): { host: string; password: string }[] => {
  const pairs: { host: string; password: string }[] = [];
  for (let at = text.indexOf('://'); at !== -1 && pairs.length < maxPairs; at = text.indexOf('://', at + 3)) {
    const [, password, host] =
      /^[^\s:/@"']{0,200}:([^\s@/"']{1,200})@([^\s/"']{1,253})/.exec(text.slice(at + 3, at + 700)) ?? [];
    if (password !== undefined && host !== undefined) pairs.push({ host, password });
  }
  return pairs;
};

/** Values that stand for a secret, or are none to keep. */
const placeholder =
  /^(?:[$<{%*\uFFFC`].*|["']?$|x{3,}|\.{3}|test(?:ing)?\d{0,4}|dummy|example|fake|changeme|postgres|root|dev|local|placeholder|redacted|null|none|undefined|true|false|process\.env.*|os\.(?:environ|getenv).*|ENV\[.*|getenv.*|secrets?\..*|env\..*|your[-_].*|my[-_](?:password|token|secret|key)|\d{1,4}|file|read|get[A-Z(].*)$/i;

const masked = (value: string): string => `${value.slice(0, 2)}…`;

/** Programs that look for secrets or count their names. */
const searches = /^(?:grep|egrep|fgrep|rg|ag|ack|gitleaks|trufflehog|detect-secrets|jq|yq)$/;

const found = (text: string): string[] => {
  const results: string[] = [];
  for (const [what, pattern] of keys) {
    const match = pattern.exec(text);
    if (match) results.push(`${what} (${masked(match[0].replace(/^authorization\W{0,6}/i, ''))})`);
  }
  for (const { name, value } of assignments(text)) if (!placeholder.test(value)) results.push(`the value of ${name}`);
  for (const { host, password } of credentials(text)) {
    if (!placeholder.test(password) && !isLocal(plain(host)))
      results.push(`the password of a URL (${shown(host, 60)})`);
  }
  return results;
};

/** Options of single programs that hold a password. */
const passwordOptions: Readonly<Record<string, RegExp>> = {
  mysql: /^-p(.{1,200})$/,
  mysqldump: /^-p(.{1,200})$/,
  mysqladmin: /^-p(.{1,200})$/,
  mariadb: /^-p(.{1,200})$/,
  sshpass: /^-p(.{0,200})$/,
};
const passwordWords: Readonly<Record<string, RegExp>> = {
  sshpass: /^-p$/,
  'redis-cli': /^(?:-a|--pass)$/,
  docker: /^-p$/,
  curl: /^(?:-u|--user|--oauth2-bearer)$/,
  mongosh: /^-p$/,
  ldapsearch: /^-w$/,
  sqlcmd: /^-P$/,
  zip: /^-P$/,
  unzip: /^-P$/,
};

const inOptions = ({ invocation: { program, args } }: Subject): string[] =>
  args.flatMap((word, index) => {
    const before = args[index - 1]?.text ?? '';
    const isNext =
      (before.startsWith('-') && secretName.test(before)) ||
      (Object.hasOwn(passwordWords, program) &&
        passwordWords[program]?.test(before) &&
        (program !== 'docker' || args[0]?.text === 'login'));
    const glued = Object.hasOwn(passwordOptions, program) ? passwordOptions[program]?.exec(word.text)?.[1] : undefined;
    // `curl -u name` asks for the password; only `name:password` holds it.
    const value =
      glued ??
      (isNext ? (program === 'curl' && /^-?-u/.test(before) ? word.text.split(':')[1] : word.text) : undefined);
    return value && !value.startsWith('-') && !placeholder.test(value)
      ? [`a password (${glued ? '-p' : before} ${masked(value)})`]
      : [];
  });

/** The part of a word that may be a path: behind `@`, `=`, or the whole. */
const pathsIn = (word: Text): Text[] => {
  if (/\s/.test(word.text) || word.text.length > 4_096) return [];
  const at = /^[^/]{0,200}[=@<]/.exec(word.text)?.[0].length ?? 0;
  return at > 0 && at < word.text.length ? [word, slice(word, at)] : [word];
};

/** Programs that print, list or test names, and read none of the bytes. */
const namesOnly =
  /^(?:echo|printf|ls|test|\[|mkdir|touch|rm|rmdir|chmod|chown|ssh-add|ssh|basename|dirname|find|git|which|stat|tree|eval|source|export|cd|(?:ba|da|z|k|a)?sh|env|xargs|sudo|timeout|nohup|node|python[0-9.]*|perl|ruby|php)$/;

export const secretPathsOf = (subject: Subject): string[] => {
  const { program, args, by } = subject.invocation;
  const read = effectsThat(subject, 'read').map(({ path }) => path);
  const sent = effectsThat(subject, 'connect').flatMap(({ sendsFiles }) => sendsFiles);
  const named = namesOnly.test(program) && by === undefined ? [] : args.flatMap(pathsIn);
  const places = [...read, ...sent, ...named].flatMap((path) => subject.reach(path));
  return [...new Set(places.flatMap(({ path }) => (path !== undefined && isSecretPath(path) ? [path] : [])))];
};

export const secretChecks: readonly Check[] = [
  {
    id: 'secret-in-command',
    title: 'Secret in a command',
    severity: 'high',
    confidence: 0.9,
    why: 'Command lines are stored with the plan, shown to everyone who may see it, and listed by the system.',
    advice: 'Have the worker set the variable, and name the variable here.',
    judge: (subject) => {
      const { program, args, environment, stdin, runs } = subject.invocation;
      if (searches.test(program)) return [];
      // A script's own commands are judged one by one.
      const own = args.filter(
        (word) => !runs.some(({ language, source }) => language === 'shell' && source.text === word.text),
      );
      const isScript = runs.some(({ language, source }) => language === 'shell' && source === stdin);
      const texts = [
        ...own.map(({ text }) => text),
        ...environment.map(({ name, value }) => `${name}=${value.text}`),
        ...(isScript ? [] : [stdin.text]),
      ];
      const secrets = [...new Set([...texts.flatMap(found), ...inOptions(subject)])];
      return secrets.map((what) => `${program === ':' ? 'A variable' : program || 'A command'} is given ${what}.`);
    },
  },
  {
    id: 'secret-read',
    title: 'Reads keys and passwords',
    severity: 'high',
    confidence: 0.9,
    why: 'Keys of the user or of the machine are no business of a plan; what it prints is stored.',
    advice: 'Use the variables and files that the workspace declares.',
    judge: (subject) => {
      if (subject.invocation.machine === 'container') return [];
      const { program } = subject.invocation;
      const metadata = effectsThat(subject, 'connect').filter(({ host }) => host && isMetadata(host));
      return [
        ...secretPathsOf(subject).map((path) => `${program || 'A command'} reads ${shownPath(path)}.`),
        ...metadata.map(
          ({ host }) => `${program} asks ${host ? hostOf(host) : ''} for the credentials of the machine.`,
        ),
      ];
    },
  },
];
