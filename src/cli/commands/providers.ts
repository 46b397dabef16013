import type { Provider, ProviderList } from '../../contracts/provider-limits.js';
import type { CommandContext } from '../context.js';
import { exitCodes } from '../errors.js';
import { timeWords } from '../inbox-lines.js';

type Use = Provider['limits'][number]['requests'];
const used = ({ used: count, limit }: Use): string => `${count}/${limit ?? 'any'}`;

const waitingIn = ({ tenants }: Provider): number => tenants.reduce((sum, { waiting }) => sum + waiting, 0);

const breakerWords = ({ breaker, open_until: until }: Provider): string =>
  `breaker ${breaker.replace('_', ' ')}${until === null ? '' : ` until ${until}`}`;

const forEachWords = ({ provider, for_each: each }: Provider): string | null =>
  each === null ? null : `for each ${each} that has no limits of its own, as ${provider}:${each.toUpperCase()}`;

const line = (provider: Provider): string => {
  const [whole] = provider.limits;
  const pause = provider.limits.find(({ paused_until: until }) => until !== null)?.paused_until;
  return [
    provider.provider.padEnd(18),
    provider.running ? breakerWords(provider) : (forEachWords(provider) ?? 'not called in the last hour'),
    ...(whole
      ? [`requests ${used(whole.requests)}, tokens ${used(whole.tokens)}, under way ${used(whole.concurrency)}`]
      : []),
    `${waitingIn(provider)} wait`,
    ...(pause ? [`paused until ${pause}`] : []),
  ].join('  ');
};

const whole = (provider: Provider, now: number): string[] => [
  `${provider.provider}  ${provider.running ? breakerWords(provider) : (forEachWords(provider) ?? 'not called in the last hour: no governor runs')}`,
  ...provider.limits.map(
    ({ model, requests, tokens, concurrency, paused_until: until }) =>
      `  ${model ?? 'all models'}: ${used(requests)} requests and ${used(tokens)} tokens in ${timeWords(provider.window_ms)}, ${used(concurrency)} under way${until === null ? '' : `, paused until ${until}`}`,
  ),
  ...provider.tenants.map(({ tenant, waiting, waiting_by_tier: tiers, under_way: underWay, oldest_since: oldest }) => {
    const byTier = `${tiers.gold} gold, ${tiers.silver} silver, ${tiers.bronze} bronze`;
    const since = oldest === null ? '' : `, for ${timeWords(Math.max(0, now - Date.parse(oldest)))}`;
    return `  tenant ${tenant}: ${underWay} under way, ${waiting} wait${waiting === 0 ? '' : ` (${byTier}${since})`}`;
  }),
];

/** `parley providers`: every provider whose limits are kept, a line each. */
export const listProviders = async (context: CommandContext): Promise<number> => {
  const { items } = (await (await context.client.open('/v1/providers')).json()) as ProviderList;
  if (context.json) context.out(JSON.stringify({ items }, null, 2));
  else if (items.length === 0)
    context.out(
      'There are none. A model’s provider is limited from its first call on; PARLEY_PROVIDER_LIMITS names limits.',
    );
  else for (const item of items) context.out(line(item));
  return exitCodes.ok;
};

/** `parley providers NAME`: its limits, what is used of them, and who waits. */
export const showProvider = async (name: string, context: CommandContext): Promise<number> => {
  const provider = (await (await context.client.open(`/v1/providers/${encodeURIComponent(name)}`)).json()) as Provider;
  context.out(context.json ? JSON.stringify(provider, null, 2) : whole(provider, Date.now()).join('\n'));
  return exitCodes.ok;
};
