import { html } from '/vendor/htm-preact.js';
import { post } from './api.js';
import { ActForm } from './dialog.js';
import { workHref } from './links.js';

/** Starts a piece of work. @returns where it is seen. @throws Refusal */
export const started = async (collection, body) => workHref(collection, (await post(`/v1/${collection}`, body)).id);

/**
 * A form that starts work and goes to it, folded away until somebody wants it.
 * @param start starts it, and says where it is seen
 */
export const StartForm = ({ title, hint, name, start, children }) => {
  const act = async () => {
    location.hash = await start();
  };
  return html`<details class="start-more">
    <summary>${title}</summary>
    <p class="hint">${hint}</p>
    <${ActForm} act=${act} name=${name} busyName="Starting…">${children}<//>
  </details>`;
};
