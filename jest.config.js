export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  transform: {},
  runtime: './test/support/native-runtime.cjs',
  setupFiles: ['./test/support/quiet-runtime.ts'],
  testSequencer: './test/support/sequencer.js',
  globalSetup: './test/support/global-setup.js',
  globalTeardown: './test/support/global-teardown.js',
  reporters: ['default', './test/support/reporter.js'],
  testTimeout: 60_000,
  // One more than the two processors that this is tuned for: many a test waits for a timer, a window or a server's start.
  maxWorkers: 3,
  workerIdleMemoryLimit: '1GB',
};
