const maxScriptLength = 100_000;
/** Each unfinished here-document costs the parser one walk over the rest. */
const maxHereDocuments = 32;
/** Brackets and substitutions inside of each other; each level is one more walk over what is left. */
const maxNesting = 40;

/** How deep the brackets of a text go, quotes left out of account. */
const nestingOf = (text: string): number => {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 40 || code === 123) deepest = Math.max(deepest, (depth += 1));
    else if ((code === 41 || code === 125) && depth > 0) depth -= 1;
  }
  return deepest;
};

/** Whether a parser gets through a script in good time. */
export const isReadable = (text: string): boolean =>
  text.length <= maxScriptLength && text.split('<<').length - 1 <= maxHereDocuments && nestingOf(text) <= maxNesting;
