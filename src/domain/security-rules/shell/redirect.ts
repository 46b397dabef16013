import type { Redirection as RedirectionNode } from 'unbash';
import type { Expander } from './expand.js';
import type { Call, Redirection } from './invocation.js';
import type { Scope } from './scope.js';
import { concat, plain, type Text } from './text.js';

/** Input and files of a command, and the file that its output goes to. */
export interface Redirected extends Pick<Call, 'stdin' | 'redirections'> {
  readonly into: Text | undefined;
}

/** @param contents what a file holds that is read from */
export const redirect = (
  nodes: readonly RedirectionNode[],
  scope: Scope,
  expander: Expander,
  contents: (file: Text) => Text,
): Redirected => {
  const redirections: Redirection[] = [];
  let { stdin } = scope;
  let into: Text | undefined;
  for (const node of nodes) {
    if (node.type === 'HereDoc') {
      stdin = node.body.parts ? expander.body(node.body.parts, scope) : plain(node.body.text);
    } else if (node.type === 'HereString') {
      if (node.target) stdin = concat([expander.single(node.target, scope), plain('\n')]);
    } else if (node.target) {
      const target = expander.single(node.target, scope);
      // `2>&1` joins descriptors and opens no file.
      if (/&$/.test(node.operator) && /^(?:\d+|-)$/.test(target.text)) continue;
      const access = node.operator.startsWith('<') && node.operator !== '<>' ? 'read' : 'write';
      redirections.push({ access, target });
      const descriptor = node.descriptor?.type === 'FileDescriptor' ? node.descriptor.value : undefined;
      if (access === 'read') stdin = contents(target);
      else if (descriptor === undefined || descriptor === 1) into = target;
    }
  }
  return { stdin, redirections, into };
};
