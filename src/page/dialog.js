import { html, useEffect, useRef, useState } from '/vendor/htm-preact.js';
import { Faults } from './parts.js';

/** Something that is asked before anything is done; Escape leaves it. The focus goes back to where it was. */
export const Dialog = ({ title, close, children }) => {
  const element = useRef(null);
  useEffect(() => {
    element.current.showModal();
  }, []);
  return html`<dialog ref=${element} aria-labelledby="dialog-title" onClose=${close}>
    <h2 id="dialog-title">${title}</h2>
    ${children(() => element.current.close())}
  </dialog>`;
};

/** What a form does when it is sent, once at a time; a refusal that `act` throws is its `error`. */
export const useSending = (act) => {
  const [{ busy, error }, setState] = useState({ busy: false, error: null });
  const mounted = useRef(true);
  useEffect(() => () => void (mounted.current = false), []);
  const submit = async (event) => {
    event.preventDefault();
    if (busy) return;
    setState({ busy: true, error: null });
    const refusal = await act().then(
      () => null,
      (reason) => reason,
    );
    if (mounted.current) setState({ busy: false, error: refusal });
  };
  return { busy, error, submit: (event) => void submit(event) };
};

/** What Ctrl + Enter, or Cmd + Enter, does in a field: it sends its form. */
export const sendByKey = ({ key, ctrlKey, metaKey, target }) => {
  if (key === 'Enter' && (ctrlKey || metaKey)) target.form.requestSubmit();
};

/**
 * A form that does one thing once, and says what was refused.
 * @param act does it; a refusal that it throws is shown
 */
export const ActForm = ({ act, name, busyName, tone = 'primary', leave, children }) => {
  const { busy, error, submit } = useSending(act);
  return html`<form class="act" onSubmit=${submit}>
    ${children}
    <${Faults} error=${error} />
    <div class="actions">
      <button type="submit" class=${tone} disabled=${busy}>${busy ? busyName : name}</button>
      ${leave && html`<button type="button" class="quiet" onClick=${leave}>Leave it</button>`}
    </div>
  </form>`;
};
