// What jest runs a test file with: Node's own modules, in place of jest's copies of them in a context a file. A worker then
// loads Temporal's SDK and Parley once, not once a file, which was most of what a file cost in time and memory. What this
// gives up is mocked modules, which nothing here uses; the files that one worker runs share their modules.
const asyncHooks = require('node:async_hooks');
const { register } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { default: Runtime } = require('jest-runtime');

register(pathToFileURL(join(__dirname, 'ts-hooks.js')));
process.setSourceMapsEnabled(true);

const { AsyncLocalStorage } = asyncHooks;
const storage = new AsyncLocalStorage();
/** A constructor may return what there is already. */
const OneStorage = function () {
  return storage;
};

module.exports = class NativeRuntime extends Runtime {
  unstable_shouldLoadAsEsm() {
    return true;
  }

  async unstable_importModule(path) {
    // jest sets it, for source maps of files that it transformed itself; Node has those of the hooks.
    Error.prepareStackTrace = undefined;
    // jest makes it 100, and every `expect` and every refusal takes that many frames; what fails stands in the first ones.
    Error.stackTraceLimit = 15;
    await import(pathToFileURL(path));
  }

  /**
   * Loads circus anew for each file: its module is the state of the file's tests. Its AsyncLocalStorage is the same one for
   * all files: nothing ever disables one that was used, and every promise of the process would carry one for each file so far.
   */
  requireInternalModule(path) {
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
    delete require.cache[path];
    asyncHooks.AsyncLocalStorage = OneStorage;
    try {
      return require(path);
    } finally {
      asyncHooks.AsyncLocalStorage = AsyncLocalStorage;
    }
  }

  setGlobalsForRuntime(globals) {
    Object.assign(globalThis, globals);
  }
};
