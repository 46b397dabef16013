import type { Provider } from '../contracts/provider-limits.js';

/** Providers whose limits are kept, and how they stand. */
export interface ProvidersPort {
  /** Those that PARLEY_PROVIDER_LIMITS names and those whose governor runs, by name. @throws ParleyError unavailable */
  list(): Promise<Provider[]>;
  /** @throws ParleyError not_found, naming which there are; unavailable */
  show(provider: string): Promise<Provider>;
}
