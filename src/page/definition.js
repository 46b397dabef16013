// A definition as a person writes it: YAML, of which JSON is a part.

/** The parser is fetched when somebody needs it, not with every page. */
const yaml = () => import('/vendor/yaml/index.js');

/** A fault at a place of the text: `line` from 1, or null where it is about the whole. */
const fault = (message, line, path = '') => ({ message, line, path });

/** `phases[0].steps[1].kind` in parts. */
const partsOf = (path) =>
  path
    .split(/[.[\]]+/)
    .filter((part) => part !== '')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));

/** The line of what a path names, or of the nearest thing around it that is there; null: only the whole is. */
const lineOf = (document, lines, path) => {
  const parts = partsOf(path);
  for (let depth = parts.length; depth > 0; depth -= 1) {
    const node = document.getIn(parts.slice(0, depth), true);
    if (node?.range) return lines.linePos(node.range[0]).line;
  }
  return null;
};

/**
 * Reads a definition: {value, faults, locate}. With faults there is no value; `locate` gives the faults of a problem document the
 * lines that they are about.
 */
export const readDefinition = async (text) => {
  const { LineCounter, parseDocument } = await yaml();
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const faults = document.errors.map(({ message, pos }) => fault(message, lines.linePos(pos[0]).line));
  if (faults.length > 0) return { value: null, faults, locate: null };
  const value = document.toJS();
  const isObject = value !== null && typeof value === 'object' && !Array.isArray(value);
  return {
    value: isObject ? value : null,
    faults: isObject ? [] : [fault('It has to be an object with work_id and phases.', null)],
    locate: (problems) =>
      problems.map(({ path, message }) => fault(message, path ? lineOf(document, lines, path) : null, path)),
  };
};
