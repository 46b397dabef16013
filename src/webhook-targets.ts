import { BlockList, isIP } from 'node:net';
import type { Webhook } from './contracts/webhook.js';
import { webhookEventNames } from './contracts/webhook.js';
import type { WebhookReach, WebhookSetup } from './domain/webhook/setup.js';
import type { Fault } from './faults.js';

const listOf = (family: 'ipv4' | 'ipv6', ...subnets: string[]): BlockList => {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [net = '', prefix] = subnet.split('/');
    list.addSubnet(net, Number(prefix), family);
  }
  return list;
};

/** Special-purpose addresses of RFC 6890 and its registry: nothing on the internet has one of these. */
const special4 = listOf(
  'ipv4',
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
);
const global6 = listOf('ipv6', '2000::/3');
/** Within the above: reserved for protocols (Teredo among them), documentation, and 6to4, which hides an IPv4 address. */
const special6 = listOf('ipv6', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20');
/** This machine's and private ones; link-local ones, where clouds keep their keys, are not among them. */
const local4 = listOf('ipv4', '10.0.0.0/8', '127.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16');
const local6 = listOf('ipv6', '::1/128', 'fc00::/7');
const mapped = listOf('ipv6', '::ffff:0:0/96');

/** The IPv4 address that `::ffff:a.b.c.d` stands for, else the address as it is. */
const unmapped = (address: string): string => {
  if (isIP(address) !== 6 || !mapped.check(address, 'ipv6')) return address;
  const [high = 0, low = 0] = new URL(`http://[${address}]`).hostname
    .slice('[::ffff:'.length, -1)
    .split(':')
    .map((group) => parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
};

/** Whether a connection to `address` is allowed; what is no address is not. */
export const isReachable = (address: string, reach: WebhookReach): boolean => {
  const plain = unmapped(address.replace(/%.*$/, ''));
  const family = isIP(plain);
  if (family === 0) return false;
  if (reach === 'any') return true;
  const isPublic =
    family === 4 ? !special4.check(plain, 'ipv4') : global6.check(plain, 'ipv6') && !special6.check(plain, 'ipv6');
  if (isPublic || reach === 'public') return isPublic;
  return family === 4 ? local4.check(plain, 'ipv4') : local6.check(plain, 'ipv6');
};

/** The host of a URL as addresses are written: without brackets, and without the full stop of a whole domain name. */
export const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase();

const isNamed = (host: string, names: readonly string[]): boolean =>
  names.some((name) => (name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name));

export interface WebhookPolicy {
  /** Hosts that PARLEY_WEBHOOK_HOSTS names, `*.` for all below one; null: it names none. */
  hosts: readonly string[] | null;
  /** For how long a delivery is tried. */
  retryMs: number;
  /** Whether private addresses are allowed too: where only this machine reaches the gateway, and needs no key. */
  isLocal: boolean;
}

/**
 * The webhooks of a request with what the operator allows, or what stands against each. A name is resolved when it is sent to,
 * and checked again then: who has a name can let it point elsewhere.
 */
export const setUpWebhooks = (
  webhooks: readonly Webhook[],
  source: string,
  { hosts, retryMs, isLocal }: WebhookPolicy,
): { webhooks: WebhookSetup[]; faults: Fault[] } => {
  const faults: Fault[] = [];
  const setUp = webhooks.map(({ url, secret, events }, index): WebhookSetup => {
    const host = hostOf(url);
    const preset: WebhookReach = isLocal ? 'local' : 'public';
    const reach = hosts === null ? preset : 'any';
    const path = `webhooks[${index}].url`;
    if (hosts !== null && !isNamed(host, hosts)) {
      const message = `must be at a host that the operator allows by PARLEY_WEBHOOK_HOSTS (${hosts.join(', ')}); got ${host}`;
      faults.push({ path, message });
    } else if (
      (isIP(host) !== 0 && !isReachable(host, reach)) ||
      (!isLocal && reach !== 'any' && isLoopbackName(host))
    ) {
      const message = `must not be a private, link-local or reserved address, unless the operator allows it by PARLEY_WEBHOOK_HOSTS; got ${host}`;
      faults.push({ path, message });
    }
    return { url, secretEnv: secret?.env ?? null, events: events ?? [...webhookEventNames], reach, retryMs, source };
  });
  return { webhooks: setUp, faults };
};

const isLoopbackName = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost');
