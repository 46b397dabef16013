import type { DataConverter } from '@temporalio/common';
import type { ArtifactStore } from '../activities/artifacts/port.js';
import type { Config } from '../src/config.js';
import { createDataConverter } from './data-converter.js';

/** Temporal refuses a payload of 2 MiB, and everything about it has to fit as well. */
const withoutClaimsBytes = 1_900_000;

/**
 * How an installation's clients make payloads. Processes apart share claims where the configuration names a place for them;
 * where it names none, each would write to a folder of its own that the others never read: then payloads stay inline.
 */
export const converterFor =
  ({ payloads }: Pick<Config, 'payloads'>, claims: ArtifactStore, { isApart = false } = {}) =>
  (namespace: string): DataConverter => {
    const isShared = !isApart || payloads.isPlaceNamed;
    const maxBytes = isShared ? payloads.maxBytes : Math.min(payloads.maxBytes, withoutClaimsBytes);
    return createDataConverter({
      claims,
      isShared,
      namespace,
      inlineBytes: payloads.inlineBytes,
      maxBytes,
    });
  };
