const opening = /\s*(?:```[a-zA-Z]{0,10}\s*)?\{/y;

/** Where the JSON object ends that a body begins with; null: it begins with none; -1: its braces do not close. */
export const objectEnd = (text: string, from: number): number | null => {
  opening.lastIndex = from;
  const match = opening.exec(text);
  if (!match) return null;
  let depth = 0;
  let isString = false;
  for (let at = from + match[0].length - 1; at < text.length; at += 1) {
    const character = text[at];
    if (isString) {
      if (character === '\\') at += 1;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
};
