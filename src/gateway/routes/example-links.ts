import type { Kind, Links } from '../../contracts/work.js';
import { linksOf } from '../../links.js';

const usual = { webUiUrl: 'http://127.0.0.1:8233', temporal: { namespace: 'default' } };

/** Where the work of an example is, as a gateway says it that nobody has set up otherwise. */
export const exampleLinks = (kind: Kind, id: string): Links => linksOf(usual, kind, id);
