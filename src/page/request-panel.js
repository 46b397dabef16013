// What a piece of work asks people, where the work itself is looked at: the inbox's parts for one request.
import { html, useEffect, useRef, useState } from '/vendor/htm-preact.js';
import { useAnswering, useKeys } from './answering.js';
import { getPatiently } from './api.js';
import { InboxItem } from './inbox-item.js';
import { Refused } from './feedback-history.js';
import { openRequest } from './model.js';
import { Faults } from './parts.js';
import { useFocusAfter } from './work-view.js';

const nothing = { key: null, item: null, error: null };

/** The open request of the work as the inbox has it, with exactly what is approved. */
const useAsked = (id, asked) => {
  const key = `${asked.request.request_id} ${asked.answers.length}`;
  const [known, setKnown] = useState(nothing);
  useEffect(() => {
    const leaving = new AbortController();
    getPatiently(`/v1/inbox?${new URLSearchParams({ work_id: id })}`, leaving.signal).then(
      ({ items }) => setKnown({ key, item: items[0] ?? null, error: null }),
      (error) => leaving.signal.aborted || setKnown({ key, item: null, error }),
    );
    return () => leaving.abort();
  }, [id, key]);
  return known.key === key ? known : nothing;
};

/** The open request `asked` of the work `id`, and the way to answer it; `refresh` looks at the work anew. */
const RequestPanel = ({ id, asked, title, refresh }) => {
  const { item, error } = useAsked(id, asked);
  const [said, setSaid] = useState({ text: '', isBad: false });
  const home = useRef(null);
  const { naming, takeKey, ...answering } = useAnswering({
    item,
    home,
    say: (text, isBad = false) => setSaid({ text, isBad }),
    // Where this look fails, the events tell what came of it.
    leave: () => refresh.current().catch(() => {}),
  });
  useKeys(takeKey);
  return html`<section class="asked" aria-label=${title}>
    ${item
      ? html`<${InboxItem} item=${item} title=${title} home=${home} naming=${naming} ...${answering} />`
      : !error && html`<p class="hint">Looking what is asked…</p>`}
    <${Faults} error=${error} />
    <p class=${said.isBad ? 'faults inbox-said' : 'inbox-said'} role="status">${said.text}</p>
    <${Refused} asked=${asked} />
  </section>`;
};

/**
 * The panel of what `work` asks people at the moment, or null; once it is gone, the focus is on what came of it.
 * @param titleOf what a request is called here
 */
export const useRequestPanel = (id, { model, refresh }, titleOf) => {
  const asked = model.status && openRequest(model.status);
  useFocusAfter(asked?.request.request_id ?? null);
  return (
    asked &&
    html`<${RequestPanel}
      key=${asked.request.request_id}
      id=${id}
      asked=${asked}
      title=${titleOf(asked.request)}
      refresh=${refresh}
    />`
  );
};
