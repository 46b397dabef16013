import type { ProviderStatus } from '../../contracts/provider-limits.js';

type Use = ProviderStatus['limits'][number]['requests'];
const used = ({ used: count, limit }: Use): string => (limit === null ? `${count}` : `${count} of ${limit}`);

/** A provider's status for people, as Markdown. */
export const governorDetails = ({
  provider,
  window_ms,
  breaker,
  open_until,
  limits,
  tenants,
}: ProviderStatus): string => {
  const pause = (until: string | null): string => (until === null ? '' : `until ${until}`);
  return [
    `**${provider}**: breaker ${breaker.replace('_', ' ')} ${pause(open_until)}`.trim(),
    '',
    `| model | requests in ${window_ms / 1000} s | tokens in ${window_ms / 1000} s | under way | paused |`,
    '| --- | --- | --- | --- | --- |',
    ...limits.map(
      ({ model, requests, tokens, concurrency, paused_until }) =>
        `| ${model ?? 'all'} | ${used(requests)} | ${used(tokens)} | ${used(concurrency)} | ${pause(paused_until)} |`,
    ),
    ...(tenants.length === 0 ? [] : ['', '| tenant | waiting | since | under way |', '| --- | --- | --- | --- |']),
    ...tenants
      .slice(0, 20)
      .map(
        ({ tenant, waiting, oldest_since, under_way }) =>
          `| ${tenant} | ${waiting} | ${oldest_since ?? ''} | ${under_way} |`,
      ),
    ...(tenants.length > 20 ? ['', `and ${tenants.length - 20} more tenants`] : []),
  ].join('\n');
};
