import { DefaultLogger, Runtime } from '@temporalio/worker';

// Before the first test file of a process: the SDK's runtime logs at INFO otherwise.
Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } },
});
