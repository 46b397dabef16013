// The gateway's HTTP contract for the page. Everything goes through fetch, event streams too: an EventSource could not
// send the key of a gateway that wants one.

const keyName = 'parley-api-key';

export const savedKey = () => sessionStorage.getItem(keyName);
export const saveKey = (key) => sessionStorage.setItem(keyName, key);

/** The gateway refused; `problem` is its RFC 9457 document. */
export class Refusal extends Error {
  constructor(problem) {
    super(problem.detail ? `${problem.title}: ${problem.detail}` : problem.title);
    this.problem = problem;
  }
}

/** Told when a request was refused for want of a key. */
let onKeyWanted = () => {};
export const whenKeyWanted = (listener) => {
  onKeyWanted = listener;
};

const open = async (path, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set('parley-client', 'page');
  const key = savedKey();
  if (key) headers.set('authorization', `Bearer ${key}`);
  const response = await fetch(path, { ...init, headers });
  if (response.ok) return response;
  if (response.status === 401) onKeyWanted(key !== null);
  const problem = await response.json().catch(() => ({ title: response.statusText || `HTTP ${response.status}` }));
  throw new Refusal({ status: response.status, ...problem });
};

export const get = async (path, signal) => (await open(path, { signal })).json();

export const getText = async (path) => (await open(path)).text();

export const post = async (path, body, headers = {}) =>
  (
    await open(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  ).json();

export const remove = async (path) => (await open(path, { method: 'DELETE' })).json();

/** Posts lines of text, where a route takes them. */
export const postText = async (path, text) =>
  (await open(path, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: text })).json();

/** Resolves after `ms`, or as soon as `signal` aborts. */
export const pause = (ms, signal) =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, signal.aborted ? 0 : ms);
    signal.addEventListener('abort', done);
  });

/** Milliseconds until a gateway that is busy or away is asked again. */
const patienceMs = 3_000;

/** What is there, as soon as the gateway can tell: one that is busy or away is asked again, until `signal`. */
export const getPatiently = async (path, signal) => {
  for (;;) {
    try {
      return await get(path, signal);
    } catch (error) {
      const isAway = error instanceof TypeError || error.problem?.status === 503;
      if (signal.aborted || !isAway) throw error;
      await pause(patienceMs, signal);
    }
  }
};

/** Splits server-sent events off the text of a stream; `feed` returns the messages that have become complete. */
export const createEventParser = () => {
  let rest = '';
  const message = (block) => {
    const fields = { event: 'message', id: null, data: [] };
    for (const line of block.split('\n')) {
      const colon = line.indexOf(':');
      if (colon === 0) continue;
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (name === 'data') fields.data.push(value);
      else if (name === 'event' || name === 'id') fields[name] = value;
    }
    return fields.data.length > 0
      ? { event: fields.event, id: Number(fields.id ?? 0), data: fields.data.join('\n') }
      : null;
  };
  return (text) => {
    // A CR may stand at the end of a piece whose LF comes with the next: it is normalised once both are here.
    rest = (rest + text).replace(/\r\n/g, '\n');
    const blocks = rest.split('\n\n');
    rest = blocks.pop();
    return blocks.map(message).filter((each) => each !== null);
  };
};

/** Path of one piece of work; `collection` is the plural of its kind. */
export const pathOf = (collection, id) => `/v1/${collection}/${encodeURIComponent(id)}`;

/**
 * Keeps a stream of server-sent events open until `signal`, over any number of connections. `take` is given the messages of
 * each piece and answers 'end' when that was all there is, 'again' when a new connection is needed.
 */
const keepOpen = async (path, { signal, headers, onConnection, take }) => {
  let delay = 250;
  while (!signal.aborted) {
    const connection = new AbortController();
    const leave = () => connection.abort();
    signal.addEventListener('abort', leave);
    // Heartbeats come far more often: a stream silent for a minute is dead although nobody said so.
    let watch = setTimeout(leave, 60_000);
    try {
      const response = await open(path, {
        headers: { accept: 'text/event-stream', ...headers() },
        signal: connection.signal,
      });
      onConnection(true);
      const feed = createEventParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        clearTimeout(watch);
        watch = setTimeout(leave, 60_000);
        delay = 250;
        const verdict = take(feed(value));
        if (verdict === 'end') return;
        if (verdict === 'again') break;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refusal && error.problem.status < 500 && error.problem.status !== 429) throw error;
    } finally {
      clearTimeout(watch);
      signal.removeEventListener('abort', leave);
      connection.abort();
    }
    if (signal.aborted) return;
    onConnection(false);
    await pause(delay, signal);
    delay = Math.min(delay * 2, 5_000);
  }
};

/**
 * Follows the events of the work at `path` until its end or `signal`, over any number of connections. Durable events come
 * once and in order (`Last-Event-ID`); partials may overlap after a reconnect, `takePartial` of the model cuts what is known.
 */
export const follow = async (path, { signal, onEvent, onPartial, onConnection, onEnd }) => {
  let last = 0;
  const take = (messages) => {
    let hole = false;
    for (const { event, id: number, data } of messages) {
      if (event === 'end') {
        onEnd();
        return 'end';
      }
      if (event === 'partial') hole = !onPartial(JSON.parse(data)) || hole;
      else if (number > last) {
        last = number;
        onEvent({ id: number, event, data: JSON.parse(data) });
      }
    }
    // Text before a partial is missing: a new connection begins with the whole text so far.
    return hole ? 'again' : null;
  };
  await keepOpen(`${path}/events`, {
    signal,
    headers: () => (last > 0 ? { 'last-event-id': String(last) } : {}),
    onConnection,
    take,
  });
};

/** Follows a stream that begins anew with each connection, until `signal`; `onMessage` is given {event, data}. */
export const listen = (path, { signal, onMessage, onConnection }) =>
  keepOpen(path, {
    signal,
    headers: () => ({}),
    onConnection,
    take: (messages) => {
      for (const { event, data } of messages) onMessage({ event, data: JSON.parse(data) });
      return null;
    },
  });
