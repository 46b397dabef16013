import type { Inner } from './invocation.js';
import { Options } from './options.js';
import { concat, mapText, plain, slice, type Text } from './text.js';

/** Words of git before its verb that take a value. */
export const gitValues = 'C c git-dir work-tree namespace exec-path super-prefix config-env';

const script = (source: Text): Inner => ({ script: source });
/** Settings whose value git hands to a shell. */
const shellSetting =
  /^(?:core\.(?:sshCommand|editor|pager|fsmonitor|askPass|gitProxy)|sequence\.editor|pager\.[^=]{1,80}|diff\.external|(?:diff|merge|filter)(?:tool)?\.[^=]{1,80}\.(?:cmd|command|driver|clean|smudge|process|textconv)|credential\.helper|gpg\.program|alias\.[^=]{1,80})$/i;

const setting = (name: string, value: Text): Inner[] => {
  if (!shellSetting.test(name)) return [];
  const isAlias = /^alias\./i.test(name);
  if (isAlias || /^credential/i.test(name)) return value.text.startsWith('!') ? [script(slice(value, 1))] : [];
  return /^(?:true|false)$/.test(value.text) ? [] : [script(value)];
};

const joined = (words: readonly Text[]): Inner[] =>
  words.length > 0 ? [script(concat(words.flatMap((word, index) => (index > 0 ? [plain(' '), word] : [word]))))] : [];

/** Shell commands that a git command runs: aliases and settings given with it, `bisect run`, `submodule foreach`, `rebase --exec` … */
export const gitInner = (args: readonly Text[]): Inner[] => {
  const options = new Options(args, gitValues, 'at operand');
  const inner = options.values('c').flatMap((word) => {
    const at = word.text.indexOf('=');
    return at === -1 ? [] : setting(word.text.slice(0, at), slice(word, at + 1));
  });
  const [verb, ...rest] = options.operands;
  const [first] = rest;
  switch (verb?.text) {
    case 'bisect':
      return first?.text === 'run' ? [...inner, { argv: rest.slice(1) }] : inner;
    case 'submodule': {
      const words = new Options(rest, '').operands;
      return words[0]?.text === 'foreach' ? [...inner, ...joined(words.slice(1))] : inner;
    }
    case 'rebase':
      return [...inner, ...new Options(rest, 'x exec').values('x', 'exec').map(script)];
    case 'filter-branch':
      return [
        ...inner,
        ...new Options(rest, 'env-filter tree-filter index-filter msg-filter')
          .values('env-filter', 'tree-filter', 'index-filter', 'msg-filter')
          .map(script),
      ];
    case 'difftool':
    case 'mergetool':
      return [...inner, ...new Options(rest, 'x extcmd').values('x', 'extcmd').map(script)];
    case 'config': {
      const { operands } = new Options(rest, 'f file blob type');
      const [name, value] = operands;
      return name && value ? [...inner, ...setting(name.text, value)] : inner;
    }
    case 'clone':
    case 'fetch':
    case 'pull':
    case 'push':
    case 'ls-remote': {
      const own = new Options(rest, 'upload-pack u receive-pack exec');
      const programs = own.values('upload-pack', 'receive-pack', 'exec', ...(verb.text === 'clone' ? ['u'] : []));
      const transports = own.operands
        .filter(({ text }) => text.startsWith('ext::'))
        .map((word) => mapText(slice(word, 5), (text) => text.replaceAll('% ', '\\ ')));
      return [...inner, ...[...programs, ...transports].map(script)];
    }
    default:
      return inner;
  }
};
