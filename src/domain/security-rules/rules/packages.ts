import { isLocal, isUrl } from '../effects/hosts.js';
import { Options } from '../shell/options.js';
import { shown, type Text } from '../shell/text.js';
import type { Check } from './check.js';

const managers =
  /^(?:npm|yarn|pnpm|bun|npx|bunx|pip[0-9.]{0,5}|pipx|uv|poetry|gem|cargo|go|composer|easy_install|conda|deno|apt|apt-get|dpkg|rpm|yum|dnf|apk|brew|snap|code)$/;
const installs =
  /^(?:install|i|add|ci|create|init|exec|dlx|x|run|get|global|require|require-dev|download|tool|tap|--install-extension)$/;
const address = /^(?:git\+|hg\+|svn\+|)(?:https?|ssh|git|ftp):\/\//i;
const namedAddress = /^[A-Za-z0-9_.[\],-]{1,200}\s?@\s?(?:git\+|hg\+|svn\+|)(?:https?|ssh|git|ftp):\/\//i;
const fromUrl = ({ text }: Text): boolean => address.test(text) || namedAddress.test(text);
/** The registries that these managers use anyway. */
const known =
  /^https?:\/\/(?:registry\.npmjs\.org|registry\.yarnpkg\.com|pypi\.org|files\.pythonhosted\.org|rubygems\.org|crates\.io|proxy\.golang\.org|repo\.maven\.apache\.org|jsr\.io|deno\.land)(?:\/|$)/;

export const packageChecks: readonly Check[] = [
  {
    id: 'untrusted-install',
    title: 'Installs from an unknown address',
    severity: 'high',
    confidence: 0.9,
    why: 'A package runs its own scripts as it is installed; outside of a registry nobody vouches for it.',
    advice: 'Install from the registry, with the version and the hash in the lock file.',
    judge: ({ invocation: { program, args, by } }) => {
      const words =
        /^(?:python[0-9.]*|uv)$/.test(program) && args.some(({ text }) => text === 'pip')
          ? args.slice(args.findIndex(({ text }) => text === 'pip') + 1)
          : args;
      if (words === args && !managers.test(program)) return [];
      if (by !== undefined && by.machine === 'container') return [];
      const options = new Options(
        words,
        'index-url i extra-index-url find-links f registry source index trusted-host repo repository r requirement c constraint git url',
      );
      const isInstall =
        /^(?:npx|bunx|pipx|easy_install|dpkg|rpm)$/.test(program) || installs.test(options.operands[0]?.text ?? '');
      if (!isInstall) return [];
      const sources = [...options.operands, ...options.values('git', 'url', 'r', 'requirement')].filter(
        (word) => fromUrl(word) && !known.test(word.text),
      );
      const indices = options
        .values('index-url', 'extra-index-url', 'find-links', 'registry', 'source', 'index', 'trusted-host')
        .filter((word) => (isUrl(word) ? !known.test(word.text) && !isLocal(word) : false));
      return [...sources, ...indices].map((word) => `${program} installs from ${shown(word)}.`);
    },
  },
];
