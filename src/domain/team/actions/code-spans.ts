interface FenceLine {
  start: number;
  end: number;
  mark: string;
  length: number;
  /** Nothing follows the marks, so that it can close a fence. */
  isBare: boolean;
}

const fencePattern = /^ {0,3}(`{3,}|~{3,})([^\n]*)$/gm;

const fenceLines = (text: string): FenceLine[] =>
  Array.from(text.matchAll(fencePattern), (match) => {
    const marks = match[1] ?? '';
    const end = match.index + match[0].length;
    return {
      start: match.index,
      end,
      mark: marks[0] ?? '`',
      length: marks.length,
      isBare: (match[2] ?? '').trim() === '',
    };
  });

/**
 * Says of a text where its code ends, for a reader that goes from left to right and steps over what is no prose. Fences that do not
 * close are no fences: models forget to close them. Linear over all questions together.
 */
export const codeReader = (text: string): { codeFrom: (at: number) => number | null } => {
  const fences = fenceLines(text);
  const fenceAt = new Map(fences.map((fence, index) => [fence.start, index]));
  /** The shortest fence of a mark that was found not to close: none as long, after it, closes either. */
  const unclosed = new Map<string, number>();
  const fenceEnd = (index: number): number | null => {
    const open = fences[index];
    if (!open || open.length >= (unclosed.get(open.mark) ?? Infinity)) return null;
    for (let next = index + 1; next < fences.length; next += 1) {
      const close = fences[next];
      if (close?.isBare && close.mark === open.mark && close.length >= open.length) return close.end;
    }
    unclosed.set(open.mark, open.length);
    return null;
  };
  let line = { start: -1, end: -1, spans: new Map<number, number>() };
  const spanEnd = (at: number): number | null => {
    if (at < line.start || at >= line.end) line = spansOfLine(text, at);
    return line.spans.get(at) ?? null;
  };
  return {
    codeFrom: (at) => {
      const fence = fenceAt.get(at);
      return (fence === undefined ? null : fenceEnd(fence)) ?? (text[at] === '`' ? spanEnd(at) : null);
    },
  };
};

/** Where each run of backticks from `at` to the end of its line meets its like. */
const spansOfLine = (text: string, at: number): { start: number; end: number; spans: Map<number, number> } => {
  const newline = text.indexOf('\n', at);
  const end = newline === -1 ? text.length : newline;
  const runs = Array.from(text.slice(at, end).matchAll(/`+/g), (run) => ({
    start: at + run.index,
    length: run[0].length,
  }));
  const spans = new Map<number, number>();
  const later = new Map<number, number>();
  for (const { start, length } of runs.reverse()) {
    const close = later.get(length);
    if (close !== undefined) spans.set(start, close + length);
    later.set(length, start);
  }
  return { start: at, end, spans };
};
