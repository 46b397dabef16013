import type { BusPort } from '../contracts/bus.js';
import { LocalBus } from './local.js';
import { PostgresBus } from './postgres.js';

/** The bus the configuration asks for: between processes with a URL (PARLEY_BUS_URL), else within this one. */
export const createBus = async (
  url: string | null,
  onError: (error: unknown, what: string) => void,
): Promise<BusPort> =>
  url === null
    ? new LocalBus({ onError: (error, topic) => onError(error, `a listener of ${topic} failed`) })
    : await PostgresBus.connect({ url, onError });
