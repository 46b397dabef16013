/**
 * Server settings that no one would find by looking (measured: a five-step fan-out from 150 to 51 ms, 15 steps in a row
 * from 1,550 to 157 ms). A stock server reads the tasks of a history shard at most 20 times a second, so that every hop of
 * a workflow waits for a tick of 50 ms, and rounds short timers up to a second; and while a workflow's task is under way it
 * takes one question more and turns the next away, which clients try again only after one or two seconds. A development server
 * besides reads from its database what search attributes there are whenever it meets one: a sixth of its processor time.
 * `docker/dynamic-config.yaml` holds the same keys for a cluster; a test keeps the two equal.
 */
export const dynamicConfig = {
  'history.transferProcessorMaxPollRPS': 5000,
  'history.timerProcessorMaxPollRPS': 5000,
  'history.visibilityProcessorMaxPollRPS': 5000,
  'history.timerProcessorMaxTimeShift': '10ms',
  // As the server writes it: on its command line another case is another name.
  'history.MaxBufferedQueryCount': 1000,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  'system.enableActivityEagerExecution': true,
  'system.enableEagerWorkflowStart': true,
  'system.forceSearchAttributesCacheRefreshOnRead': false,
} as const satisfies Record<string, string | number | boolean>;

/** The settings as flags of `temporal server start-dev`, whose values are JSON. */
export const dynamicConfigFlags = (): string[] =>
  Object.entries(dynamicConfig).flatMap(([key, value]) => [
    '--dynamic-config-value',
    `${key}=${JSON.stringify(value)}`,
  ]);

/** SQLite as a write-ahead log that still syncs at every commit (2 is FULL): faster, and a power cut loses nothing. */
export const sqlitePragmas = ['journal_mode=WAL', 'synchronous=2'] as const;
