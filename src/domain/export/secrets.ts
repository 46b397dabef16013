import type { OpenExport } from '../../contracts/export.js';
import { mapNamed, replacing, type Texts, textsNamed, valuesOf, withTexts, withValues } from './texts.js';

/** What is always taken out, in words. */
export const secretsRule =
  'secrets: every value of env and headers, members named as secrets, and texts in the form of keys';

const secret = '[redacted]';

const holders = new Set(['env', 'headers']);
/** Members whose URLs may hold a token anywhere. */
const targets = new Set(['webhook', 'webhooks']);
const urlForm = /^https?:\/\//i;
const secretName =
  /(^|[_-])(api[_-]?keys?|((access|refresh|auth|bearer|session)[_-]?)?token|secrets?|password|passwd|passphrase|authorization|cookie|credentials?|(private|access|lane)[_-]?keys?)$/i;
const isHolder = (name: string): boolean => holders.has(name.toLowerCase());
const isTarget = (name: string): boolean => targets.has(name.toLowerCase());
const isSecretName = (name: string): boolean => secretName.test(name.replace(/([a-z0-9])([A-Z])/g, '$1_$2'));

/** Keys and passwords that can be told by their form. */
const secretForms: readonly [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, secret],
  [/\b(sk|pk|rk)-[A-Za-z0-9_-]{16,}/g, secret],
  [/\bgh[pousr]_[A-Za-z0-9]{20,}/g, secret],
  [/\bgithub_pat_[A-Za-z0-9_]{20,}/g, secret],
  [/\bxox[abprs]-[A-Za-z0-9-]{10,}/g, secret],
  [/\bA(KIA|SIA)[A-Z0-9]{16}\b/g, secret],
  [/\bAIza[A-Za-z0-9_-]{30,}/g, secret],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, secret],
  [/\b(Bearer|Basic) [A-Za-z0-9._~+/=-]{12,}/g, `$1 ${secret}`],
  [/([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@:]{0,256}:[^\s/@]{1,256}@/gi, `$1${secret}@`],
  [/([?&](?:api[_-]?key|key|token|secret|password|sig|signature)=)[^&\s"']+/gi, `$1${secret}`],
  [/(--?(?:api[_-]?key|token|secret|password)[= ])[^\s"'[-][^\s"']*/gi, `$1${secret}`],
];

/** A text that is a secret rather than a word such as "production". */
const isTelling = (text: string): boolean => text.length >= 8 && /\d/.test(text) && /[a-z]/i.test(text);

/**
 * A document without secrets, as every export is. A text that is taken out at its place is taken out of every other text as
 * well, answers of models included: those of members named as secrets from 6 characters on, those of `env` and `headers`
 * where they have 8 characters and letters and digits, and the URLs of webhooks.
 */
export const withoutSecrets = (document: OpenExport): OpenExport => {
  let count = 0;
  const hit = (): void => {
    count += 1;
  };
  const values = valuesOf(document);
  const known = replacing(
    [
      ...values.flatMap((value) => textsNamed(value, isHolder)).filter(isTelling),
      ...values.flatMap((value) => textsNamed(value, isSecretName)),
      ...values.flatMap((value) => textsNamed(value, isTarget)).filter((text) => urlForm.test(text)),
    ],
    secret,
    hit,
  );
  const hide: Texts = (text) => {
    if (text === '' || text === secret) return text;
    hit();
    return secret;
  };
  const formed: Texts = (text) =>
    secretForms.reduce((before, [form, replace]) => {
      const after = before.replace(form, replace);
      if (after !== before) hit();
      return after;
    }, text);
  const hidden = withValues(document, (value) => mapNamed(value, (name) => isHolder(name) || isSecretName(name), hide));
  const clean = withTexts(hidden, (text) => formed(known(text)));
  return { ...clean, redactions: [...document.redactions, { rule: secretsRule, count }] };
};
