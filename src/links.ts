import type { Kind, Links } from './contracts/work.js';

/** What of the settings says where work is seen. */
interface Place {
  webUiUrl: string;
  temporal: { namespace: string };
}

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
export const webUiUrl = ({ webUiUrl: base, temporal }: Place, id: string): string =>
  `${base}/namespaces/${encodeURIComponent(temporal.namespace)}/workflows/${encodeURIComponent(id)}`;

export const linksOf = (config: Place, kind: Kind, id: string): Links => {
  const self = `/v1/${collection[kind]}/${encodeURIComponent(id)}`;
  return { self, events: `${self}/events`, web_ui: webUiUrl(config, id) };
};

/** The same, as what answers a start or a restore has it. */
export const urlsOf = ({ self, events, web_ui: webUi }: Links) => ({
  status_url: self,
  events_url: events,
  web_ui_url: webUi,
});
