import { html, useEffect, useRef, useState } from '/vendor/htm-preact.js';
import { getText } from './api.js';
import { Faults } from './parts.js';
import { bytes } from './units.js';

/** An answer too large for a status: read from the artifact store when it is asked for. */
export const Kept = ({ kept }) => {
  const [read, setRead] = useState({ busy: false, text: null, error: null });
  const mounted = useRef(true);
  useEffect(() => () => void (mounted.current = false), []);
  const open = async () => {
    setRead({ busy: true, text: null, error: null });
    const outcome = await getText(`/v1/artifacts/${kept.sha256}`).then(
      (text) => ({ text, error: null }),
      (error) => ({ text: null, error }),
    );
    if (mounted.current) setRead({ busy: false, ...outcome });
  };
  if (read.text !== null) return html`<pre class="output" tabindex="0">${read.text}</pre>`;
  return html`<button type="button" class="quiet small" disabled=${read.busy} onClick=${() => void open()}>
      Read ${bytes(kept.size_bytes)}
    </button>
    <${Faults} error=${read.error} />`;
};
