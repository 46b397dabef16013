// What jest runs a test file with: Node's own modules, in place of jest's copies of them in a context a file. A worker then
// loads Temporal's SDK and Parley once, not once a file, which was most of what a file cost in time and memory. What this
// gives up is mocked modules, which nothing here uses; the files that one worker runs share their modules.
const { register } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { default: Runtime } = require('jest-runtime');

register(pathToFileURL(join(__dirname, 'ts-hooks.js')));
process.setSourceMapsEnabled(true);

module.exports = class NativeRuntime extends Runtime {
  unstable_shouldLoadAsEsm() {
    return true;
  }

  async unstable_importModule(path) {
    // jest sets it, for source maps of files that it transformed itself; Node has those of the hooks.
    Error.prepareStackTrace = undefined;
    await import(pathToFileURL(path));
  }

  /** Loads circus anew for each file: its module is the state of the file's tests. */
  requireInternalModule(path) {
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
    delete require.cache[path];
    return require(path);
  }

  setGlobalsForRuntime(globals) {
    Object.assign(globalThis, globals);
  }
};
