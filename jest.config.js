export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  transform: {},
  runtime: './test/support/native-runtime.cjs',
  setupFiles: ['./test/support/quiet-runtime.ts'],
  globalSetup: './test/support/global-setup.js',
  globalTeardown: './test/support/global-teardown.js',
  reporters: ['default', './test/support/reporter.js'],
  testTimeout: 60_000,
  maxWorkers: 2,
  workerIdleMemoryLimit: '1GB',
};
