/** What is said of a URL that holds some: it is shown and kept with what it stands in. */
export const noCredentials = 'must hold no user name and no password';

/** A text that is shown, of whose URLs and names of hosts nobody who calls is. */
export const withoutCredentials = (text: string): string =>
  text.replaceAll(/(:\/\/|\b(?:http|a2a):)[^/?#\s"]*@/g, '$1…@');

/** Whether a URL names nobody (`https://user:password@host`); what is no URL has another fault. */
export const hasNoCredentials = (text: string): boolean => {
  if (!URL.canParse(text)) return true;
  const { username, password } = new URL(text);
  return username === '' && password === '';
};
