// What is known of the checkpoints of one piece of work, kept up to date.
import { useEffect, useRef, useState } from '/vendor/htm-preact.js';
import { get, getPatiently, pause } from './api.js';
import { endedLifecycle } from './model.js';

/** Milliseconds between two looks while the work runs. */
const lookEveryMs = 3_000;
/** Milliseconds that a checkpoint has to stay chosen before it is asked for: each costs a replay of the history. */
const restMs = 150;

/** {status, items, restores} of the work at `path`; null while they are not known. */
export const useCheckpoints = (path) => {
  const [known, setKnown] = useState({ work: null, error: null });
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const look = async () => {
      const [status, { items, restores }] = await Promise.all([get(path, signal), get(`${path}/checkpoints`, signal)]);
      setKnown({ work: { status, items, restores }, error: null });
      return status;
    };
    const keepLooking = async (first) => {
      let status = first;
      while (!signal.aborted && !endedLifecycle.has(status.lifecycle)) {
        await pause(lookEveryMs, signal);
        if (signal.aborted) return;
        status = await look().catch(() => status); // what is known stays; the next look may find more
      }
    };
    look().then(keepLooking, (error) => {
      if (!signal.aborted) setKnown({ work: null, error });
    });
    return () => leaving.abort();
  }, [path]);
  return known;
};

/**
 * The checkpoint `number` of the work at `path`, with the one before it: {shown, before}; `before` is null where there is none.
 * @param version changes when numbers mean other checkpoints than they did: after a restore
 */
export const useCheckpoint = (path, number, version) => {
  const [known, setKnown] = useState({ number: null, shown: null, before: null, error: null });
  const kept = useRef(new Map());
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const inspect = async (wanted) => {
      const key = `${version} ${wanted}`;
      if (!kept.current.has(key)) kept.current.set(key, await getPatiently(`${path}/checkpoints/${wanted}`, signal));
      return kept.current.get(key);
    };
    const read = async () => {
      if (!kept.current.has(`${version} ${number}`)) await pause(restMs, signal);
      if (signal.aborted) return;
      const shown = await inspect(encodeURIComponent(number));
      if (signal.aborted) return;
      setKnown((last) => ({ number, shown, before: last.number === number ? last.before : undefined, error: null }));
      // The one before may be gone while this one is there.
      const before = shown.sequence_num > 0 ? await inspect(shown.sequence_num - 1).catch(() => null) : null;
      if (!signal.aborted) setKnown({ number, shown, before, error: null });
    };
    if (number !== null)
      read().catch((error) => {
        if (!signal.aborted) setKnown({ number, shown: null, before: null, error });
      });
    return () => leaving.abort();
  }, [path, number, version]);
  return known;
};
