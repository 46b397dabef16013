import { resolve } from '../place.js';
import type { Call, Inner, Invocation } from './invocation.js';
import type { Scope } from './scope.js';
import { fromVariable, plain } from './text.js';

/** What a program knows that another one starts: the same variables, its own arguments, no functions. */
export const innerScope = (inner: Inner, by: Invocation, scope: Scope, call: Call, workspace: string): Scope => {
  const own = scope.fork();
  own.by = by;
  own.stdin = inner.stdin ?? call.stdin;
  own.machine = inner.machine ?? scope.machine;
  if (inner.cwd) own.cwd = resolve(inner.cwd, scope.cwd, workspace);
  for (const { name, value } of [...call.environment, ...(inner.environment ?? [])])
    own.set(name, [fromVariable(value, name)]);
  if ('argv' in inner) return own;
  own.functions = new Map();
  own.aliases = new Map();
  own.by = undefined;
  own.zero = inner.zero ?? plain('sh');
  own.positional = inner.positional ?? [];
  own.endsOnUnset = false;
  own.isGuess = inner.isGuess === true;
  return own;
};
