import { holeMark, type Text } from '../shell/text.js';

const scheme = /^[A-Za-z][A-Za-z0-9+.-]{0,30}:\/\//;

/** The name or address in a URL, in `user@host:path` or `host:port`; empty where it is not known. */
export const hostOf = ({ text }: Text): string => {
  const rest = text.replace(scheme, '').slice(0, 2_048);
  const authority = rest.split(/[/?#]/, 1)[0] ?? '';
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  if (host.startsWith('[')) return host.slice(1, host.indexOf(']'));
  if (/^[0-9a-f:]{2,39}$/i.test(host) && host.split(':').length > 2) return host;
  return (host.split(':', 1)[0] ?? '').toLowerCase();
};

/** Whether an address is this machine's own: nothing leaves it. */
export const isLocal = (target: Text): boolean => {
  const host = hostOf(target);
  if (host.includes(holeMark)) return false;
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host) ||
    /^(?:0\.0\.0\.0|0|::1?|host\.docker\.internal)$/.test(host)
  );
};

/** Addresses under which a cloud hands credentials to its machines. */
export const isMetadata = (target: Text): boolean =>
  /^(?:169\.254\.169\.254|169\.254\.170\.2|metadata(?:\.google\.internal)?|100\.100\.100\.200|fd00:ec2::254)$/.test(
    hostOf(target),
  );

export const isUrl = ({ text }: Text): boolean => scheme.test(text);
export const isRemotePath = ({ text }: Text): boolean =>
  /^[^/\s]{1,255}:/.test(text) || (scheme.test(text) && !text.startsWith('file://'));
