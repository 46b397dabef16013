import type { SyntaxNode } from 'unbash';

/** Whether a function's body starts the function itself beside itself, in a pipe or in the background. */
export const multiplies = (node: SyntaxNode, name: string, isBeside: boolean): boolean => {
  switch (node.type) {
    case 'Command':
      return isBeside && node.name?.value === name;
    case 'Pipeline':
      return node.commands.some((command) => multiplies(command, name, node.commands.length > 1 || isBeside));
    case 'Statement':
      return multiplies(node.command, name, isBeside || node.background === true);
    case 'AndOr':
    case 'CompoundList':
      return node.commands.some((command) => multiplies(command, name, isBeside));
    case 'BraceGroup':
    case 'Subshell':
    case 'For':
      return multiplies(node.body, name, isBeside);
    case 'While':
      return multiplies(node.body, name, isBeside);
    case 'Redirected':
      return multiplies(node.command, name, isBeside);
    default:
      return false;
  }
};
