// Addresses of the page's own views.

/** The kinds of work that have a view of their own here. */
export const viewedKinds = new Set(['session', 'debate', 'fan-out', 'refinement', 'team', 'run', 'coordinator']);

/** The plural of a kind, as it stands in addresses. */
export const collectionOf = (kind) => `${kind}s`;

export const workHref = (collection, id) => `#/${collection}/${encodeURIComponent(id)}`;

/** The checkpoints of a piece of work; `number`: the one that is shown, else the latest. */
export const checkpointsHref = (collection, id, number) =>
  `${workHref(collection, id)}/checkpoints${number === undefined ? '' : `/${number}`}`;

export const compareHref = (a, b) => `#/compare/${encodeURIComponent(a)}/${encodeURIComponent(b)}`;
