import { html } from '/vendor/htm-preact.js';

const roles = ['analyst', 'solution', 'critic', 'security', 'optimizer'];

const body = `{
  "task": "Repair what makes npm test fail",
  "workspace": { "path": "/path/to/the/repository" },
  "roles": {
${roles.map((role) => `    "${role}": { "adapter": { "kind": "openai", "model": "gpt-5" } }`).join(',\n')}
  },
  "approval": { "required": true }
}`;

/** Debates work in a folder of the worker, with its models: they are started where both are known. */
export const StartDebate = () =>
  html`<details class="start-debate">
    <summary>Start a debate</summary>
    <p class="hint">
      A debate argues a plan, executes it in a sandbox and takes it back where it fails. It starts with the command
      line, or with the same JSON by <code>POST /v1/debates</code>, and then stands in the list. A click selects it all.
    </p>
    <pre class="output copy" tabindex="0">${`parley debate start - <<'END'\n${body}\nEND`}</pre>
  </details>`;
