type Environment = Readonly<Record<string, string | undefined>>;

const variable = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** A value with every `${NAME}` in its texts replaced; `missing`: names without a value and without a preset. */
export const expanded = (value: unknown, environment: Environment): { value: unknown; missing: string[] } => {
  const missing = new Set<string>();
  const inText = (text: string): string =>
    text.replace(variable, (_, name: string, preset: string | undefined) => {
      const found = environment[name] ?? '';
      if (found !== '') return found;
      if (preset === undefined) missing.add(name);
      return preset ?? name; // for faults of the rest: an address stays one
    });
  const inAny = (one: unknown): unknown => {
    if (typeof one === 'string') return inText(one);
    if (Array.isArray(one)) return one.map(inAny);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([name, member]) => [name, inAny(member)]));
  };
  return { value: inAny(value), missing: [...missing] };
};
