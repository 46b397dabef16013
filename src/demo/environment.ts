import { join } from 'node:path';

/** Everything of its own in the demo's folder, so that it stands in nobody's way. */
export const environmentOf = (folder: string): NodeJS.ProcessEnv => ({
  ...process.env,
  PORT: '0',
  TEMPORAL_PORT: '0',
  TEMPORAL_UI_PORT: '0',
  PARLEY_API_KEYS: '',
  HOST: '127.0.0.1',
  PARLEY_DATA: join(folder, 'data'),
  PARLEY_WORKSPACES: join(folder, 'repositories'),
});
