import { startEmbeddedServer } from '../../temporal/server.js';

/**
 * A Temporal server that has nothing but what this file makes, for what looks at all that there is: products that are started
 * before `stop` are on it.
 */
export const startOwnServer = async (): Promise<{ stop(): Promise<void> }> => {
  const before = process.env['TEST_TEMPORAL_ADDRESS'];
  const { address, stop } = await startEmbeddedServer({
    executable: process.env['TEST_TEMPORAL_CLI'] ?? 'temporal',
    uiPort: null,
  });
  process.env['TEST_TEMPORAL_ADDRESS'] = address;
  return {
    stop: async () => {
      process.env['TEST_TEMPORAL_ADDRESS'] = before;
      await stop();
    },
  };
};
