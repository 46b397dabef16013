import { RE2JS } from 're2js';

/**
 * Loaded once for all runs of a worker: the tables of Unicode are a megabyte, which each cached run would hold again. The call is there
 * as the bundler leaves out what nobody uses.
 */
RE2JS.compile('');
