import { gitValues } from '../shell/git.js';
import { Options } from '../shell/options.js';
import { plain } from '../shell/text.js';
import { connect, type ConnectReading as Reading } from './connect.js';
import { isRemotePath } from './hosts.js';

export const git: Reading = (args) => {
  const [verb, ...rest] = new Options(args, gitValues, 'at operand').operands;
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
export const publishing =
  (words: RegExp, takesValue = ''): Reading =>
  (args) => {
    const options = new Options(args, takesValue);
    const line = options.operands
      .slice(0, 3)
      .map(({ text }) => text)
      .join(' ');
    return words.test(line) && !options.has('dry-run', 'n') ? [connect(undefined, 'publish', args)] : [];
  };

export const cloud: Reading = (args) => {
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

export const rclone: Reading = (args) => {
  const [, ...paths] = new Options(args, 'config transfers checkers').operands;
  const target = paths.at(-1);
  if (!target || paths.length < 2) return [connect(undefined, 'fetch')];
  return isRemotePath(target) ? [connect(target, 'send', [], paths.slice(0, -1))] : [connect(paths[0], 'fetch')];
};

export const forge: Reading = (args) => {
  const [kind, verb] = new Options(args, 'R repo', 'at operand').operands.map(({ text }) => text);
  if (kind === undefined || /^(?:help|version|completion|config|alias)$/.test(kind)) return [];
  const changes =
    /^(?:create|edit|close|merge|delete|upload|comment|review|set|add|fork|sync|transfer|rename|reopen|ready|lock|run|rerun|cancel|enable|disable)$/;
  const files = kind === 'gist' && verb === 'create' ? new Options(args, 'd desc f filename').operands.slice(2) : [];
  return [connect(undefined, changes.test(verb ?? '') ? 'publish' : 'fetch', args, files)];
};
