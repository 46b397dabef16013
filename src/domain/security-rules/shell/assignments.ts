import type { Assignment } from 'unbash';
import type { Expander } from './expand.js';
import type { Scope, Value } from './scope.js';
import { concat, emptyText } from './text.js';

export const valueOf = ({ value }: Assignment, scope: Scope, expander: Expander): Value =>
  value.type === 'ArrayValue'
    ? value.elements.flatMap((word) => expander.fields(word, scope))
    : [expander.single(value, scope)];

/** `name=value`, or `name+=value` behind what the variable has. */
export const assign = ({ name, append, value: node }: Assignment, value: Value, scope: Scope): void => {
  const before = append ? (scope.lookup(name)?.at(-1) ?? []) : [];
  const elements = [...before, ...value];
  scope.assign(name, node.type === 'ArrayValue' || !append ? elements : [concat([emptyText, ...elements])]);
};
