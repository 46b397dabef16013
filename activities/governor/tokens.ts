/** Texts that people write have two characters a token and more; what is not ASCII may have two tokens a character. */
const asciiPerToken = 2;
const tokensPerOther = 2;

/** The most tokens that a text is likely to be, where no tokenizer is at hand: about twice what English is. */
export const mostTokens = (text: string): number => {
  const others = text.replace(/[\0-\x7f]+/g, '').length;
  return Math.ceil((text.length - others) / asciiPerToken) + others * tokensPerOther;
};
