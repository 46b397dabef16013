import { DefaultLogger, Runtime } from '@temporalio/worker';

// Imported first by every test file that makes a Worker or replays: each file has its own copy of the SDK, whose runtime
// logs at INFO otherwise.
Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } },
});
