import type { Config } from './config.js';
import type { Kind } from './contracts/work.js';

const collection: Record<Kind, string> = {
  session: 'sessions',
  debate: 'debates',
  'fan-out': 'fan-outs',
  refinement: 'refinements',
  team: 'teams',
  run: 'runs',
  coordinator: 'coordinators',
};

/** The plural of a kind, as paths have it. */
export const collectionOf = (kind: Kind): string => collection[kind];

/** Where a person sees a piece of work in Temporal's Web UI. */
export const webUiUrl = ({ webUiUrl: base, temporal }: Pick<Config, 'webUiUrl' | 'temporal'>, id: string): string =>
  `${base}/namespaces/${encodeURIComponent(temporal.namespace)}/workflows/${encodeURIComponent(id)}`;

export const linksOf = (config: Pick<Config, 'webUiUrl' | 'temporal'>, kind: Kind, id: string) => {
  const self = `/v1/${collection[kind]}/${encodeURIComponent(id)}`;
  return { self, events: `${self}/events`, web_ui: webUiUrl(config, id) };
};
