import type { Invocation } from './invocation.js';

/** Stands in a text for what cannot be known before the command runs. */
export const holeMark = '\uFFFC';

/** Why a part of a text is not known, and which commands will fill it. */
export interface Hole {
  /** `output` of commands, `input` from outside, `item` one of many that a command hands on, `number` harmless digits. */
  readonly kind: 'output' | 'input' | 'item' | 'number';
  readonly producers: readonly Invocation[];
  /** Of an item that is a path: the folders it lies in. */
  readonly roots?: readonly Text[];
  /** Stands unquoted in a shell: it may become several words and patterns. */
  readonly unquoted?: boolean;
}

/** A string as far as it is known: `holes` belong to the marks in `text`, in their order. */
export interface Text {
  readonly text: string;
  readonly holes: readonly Hole[];
  /** Names of variables in it that the script itself does not set: from the environment, or not set at all. */
  readonly variables: readonly string[];
  /** Came out of a decoder, so that nobody could read it in the plan. */
  readonly isDecoded: boolean;
}

const noHoles: readonly Hole[] = [];
const noVariables: readonly string[] = [];

export const plain = (text: string): Text => ({
  text: text.includes(holeMark) ? text.replaceAll(holeMark, '\uFFFD') : text,
  holes: noHoles,
  variables: noVariables,
  isDecoded: false,
});

export const emptyText = plain('');
export const decodedText = (text: string): Text => ({ ...plain(text), isDecoded: true });

export const unknown = (kind: Hole['kind'], producers: readonly Invocation[] = [], roots?: readonly Text[]): Text => ({
  text: holeMark,
  holes: [{ kind, producers, ...(roots ? { roots } : {}) }],
  variables: noVariables,
  isDecoded: false,
});

export const fromVariable = (text: Text, name: string): Text =>
  text.variables.includes(name) ? text : { ...text, variables: [...text.variables, name] };

export const isKnown = (text: Text): boolean => text.holes.length === 0;

export const concat = (texts: readonly Text[]): Text => {
  if (texts.length === 1) return texts[0] as Text;
  const holes = texts.flatMap((text) => text.holes);
  const variables = texts.flatMap((text) => text.variables);
  return {
    text: texts.map((text) => text.text).join(''),
    holes,
    variables: [...new Set(variables)],
    isDecoded: texts.some((text) => text.isDecoded),
  };
};

/** The marks of holes in a text. */
export const marksIn = (text: string): string[] => text.split(holeMark).slice(1);

const holesBefore = (text: Text, end: number): number => {
  if (text.holes.length === 0) return 0;
  let count = 0;
  for (let at = text.text.indexOf(holeMark); at !== -1 && at < end; at = text.text.indexOf(holeMark, at + 1))
    count += 1;
  return count;
};

/** As `String.prototype.slice`, for offsets of at least 0. */
export const slice = (text: Text, start: number, end = text.text.length): Text => {
  const piece = text.text.slice(start, end);
  const from = holesBefore(text, start);
  const holes =
    text.holes.length === 0
      ? noHoles
      : text.holes.slice(from, from + holesBefore({ ...text, text: piece }, piece.length));
  return { ...text, text: piece, holes };
};

/** The pieces between runs of separators; one walk over text and holes. */
export const split = (text: Text, separators: string): Text[] => {
  const pieces: Text[] = [];
  let start = 0;
  let used = 0;
  let seen = 0;
  const end = (at: number): void => {
    const holes = seen === used ? noHoles : text.holes.slice(used, seen);
    pieces.push({ ...text, text: text.text.slice(start, at), holes });
    used = seen;
  };
  for (let index = 0; index < text.text.length; index += 1) {
    const character = text.text[index] as string;
    if (character === holeMark) seen += 1;
    if (!separators.includes(character)) continue;
    end(index);
    while (index + 1 < text.text.length && separators.includes(text.text[index + 1] as string)) index += 1;
    start = index + 1;
  }
  end(text.text.length);
  return pieces;
};

/** The same text with another spelling of its known parts; `change` must leave the marks where they are. */
export const mapText = (text: Text, change: (known: string) => string): Text => ({ ...text, text: change(text.text) });

/** For people: marks become an ellipsis, control characters a blank, long texts lose their end. */
export const shown = (text: Text | string, length = 80): string => {
  const whole = typeof text === 'string' ? text : text.text;
  const head = whole
    .slice(0, length + 1)
    .replaceAll(holeMark, '…')
    .replace(/\p{Cc}/gu, ' ');
  return head.length > length ? `${head.slice(0, length)}…` : head;
};

/** Every command whose output went into the text, directly or through others; each once, nearest first. */
export const origins = (...texts: readonly Text[]): Invocation[] => {
  const found = new Set<Invocation>();
  const open: Text[] = [...texts];
  for (let text = open.pop(); text; text = open.pop()) {
    for (const hole of text.holes) {
      for (const producer of hole.producers) {
        if (found.has(producer)) continue;
        found.add(producer);
        open.push(producer.stdin, ...producer.args);
      }
    }
  }
  return [...found];
};
