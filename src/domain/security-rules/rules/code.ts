import { effectsOf } from '../effects/index.js';
import type { Invocation } from '../shell/invocation.js';
import { isKnown, origins, shown, type Text } from '../shell/text.js';
import { effectsThat, type Check, type Subject } from './check.js';

const connects = (invocation: Invocation): boolean => effectsOf(invocation).some(({ does }) => does === 'connect');
const decoders =
  /^(?:g?base64|base32|basenc|xxd|uudecode|openssl|gunzip|gzip|zcat|bzcat|bunzip2|xzcat|unxz|zstd|zstdcat|tr|rev|rot13|hexdump|od|gpg|uncompress|ascii85|dd)$/;
/** Programs that print lines for a shell to take over: setting up tools is their purpose. */
const hooks =
  /^(?:ssh-agent|gpg-agent|direnv|opam|pyenv|rbenv|nodenv|goenv|jenv|brew|fnm|nvm|volta|starship|minikube|docker-machine|dircolors|luarocks|conda|mamba|kubectl|helm|gh|npm|pip|thefuck|zoxide|fzf|mise|asdf|rustup|lesspipe|resize|register-python-argcomplete|cat|head|tail|git|jq|yq|find|ls|grep|envsubst)$/;

/** Program texts of an invocation with the commands that make them. */
const made = ({ invocation }: Subject): { source: Text; from: readonly Invocation[] }[] => {
  const texts = [
    ...invocation.runs.map(({ source }) => source),
    ...(invocation.program === '' ? [invocation.name] : []),
  ];
  return texts.map((source) => ({ source, from: origins(source) }));
};
const isWhole = ({ text, holes }: Text): boolean => holes.length > 0 && text.replaceAll('\uFFFC', '').trim() === '';

const downloads = (subject: Subject): Invocation[] => made(subject).flatMap(({ from }) => from.filter(connects));
const decodes = ({ source, from }: { source: Text; from: readonly Invocation[] }): boolean =>
  source.isDecoded || from.some(({ program }) => decoders.test(program));
/** The command's own name, for people. */
const nameOf = ({ invocation }: Subject): string =>
  invocation.program || 'a command whose name is only known when it runs';

export const codeChecks: readonly Check[] = [
  {
    id: 'remote-code',
    title: 'Runs what it downloads',
    severity: 'critical',
    confidence: 0.97,
    why: 'Nobody has read what the other side will send at that moment.',
    advice: 'Keep the script in the workspace, read it, and run that file.',
    judge: (subject) => {
      const { invocation } = subject;
      const found = downloads(subject).map(({ program }) => `${nameOf(subject)} runs what ${program} downloads.`);
      const evaluates =
        effectsThat(subject, 'evaluate').some(({ text }) => !isKnown(text)) &&
        invocation.codeEffects.some(({ does }) => does === 'connect');
      const isSourced =
        (invocation.program === 'source' || invocation.program === '.') && origins(...invocation.args).some(connects);
      const feeds = effectsThat(subject, 'sql').some(({ text }) => isWhole(text) && origins(text).some(connects));
      return evaluates || isSourced || feeds ? [...found, `${nameOf(subject)} runs what it downloads.`] : found;
    },
  },
  {
    id: 'shell-injection',
    title: 'Runs a value as a command',
    severity: 'critical',
    confidence: 0.9,
    why: 'A value from outside that a shell reads as its script can be any command.',
    advice: 'Pass the value as an argument ("$1") or in a quoted variable; do without eval and nested shells.',
    judge: (subject) => {
      const { invocation } = subject;
      const fromOutside = ({ source }: { source: Text }): boolean =>
        source.variables.length > 0 || source.holes.some(({ kind }) => kind === 'input');
      const runs = made(subject).filter((each) => !each.from.some(connects) && fromOutside(each));
      const names = runs.flatMap(({ source }) => source.variables.map((name) => `$${name}`));
      const evaluated = effectsThat(subject, 'evaluate').filter(({ text }) => !text.isDecoded);
      const isRemote = invocation.codeEffects.some(({ does }) => does === 'connect');
      if (runs.length === 0 && (evaluated.length === 0 || isRemote)) return [];
      return [
        `${nameOf(subject)} runs ${names.length > 0 ? names.join(', ') : 'a value that comes in when it runs'} as a command.`,
      ];
    },
  },
  {
    id: 'obfuscated-command',
    title: 'Runs what it decodes',
    severity: 'high',
    confidence: 0.9,
    why: 'A command that is hidden from its readers has a reason to be.',
    advice: 'Write the command as it is.',
    judge: (subject) => {
      const { invocation } = subject;
      const runs = made(subject).some((each) => !each.from.some(connects) && decodes(each));
      const isPattern =
        /[*?[]/.test(invocation.name.text) && !/^\[{1,2}$/.test(invocation.name.text) && invocation.by === undefined;
      const isHiddenName = invocation.name.isDecoded;
      const found =
        runs || isHiddenName || effectsThat(subject, 'evaluate').some(({ text }) => text.isDecoded)
          ? [`${nameOf(subject)} runs what it decodes itself.`]
          : [];
      return isPattern ? [...found, `The command's name is a pattern, ${shown(invocation.name, 40)}.`] : found;
    },
  },
  {
    id: 'generated-command',
    title: 'Runs what another command prints',
    severity: 'medium',
    confidence: 0.6,
    why: 'A script that is made while the plan runs cannot be read beforehand.',
    advice: 'Run the commands themselves, or a script of the workspace.',
    judge: (subject) => {
      const runs = made(subject).filter((each) => isWhole(each.source) && !each.from.some(connects) && !decodes(each));
      const makers = runs
        .flatMap(({ source }) => source.holes.flatMap(({ kind, producers }) => (kind === 'output' ? producers : [])))
        .filter(({ program }) => !hooks.test(program));
      return [...new Set(makers.map(({ program }) => program))].map(
        (program) => `${nameOf(subject)} runs what ${program || 'another command'} prints.`,
      );
    },
  },
];
