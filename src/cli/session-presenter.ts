import { createTeller, resultLines, statusLines } from './lines.js';
import type { Presenter } from './presenter.js';
import { createScreen, frame } from './screen.js';
import { answerText, emptyView, hear } from './view.js';

/** Sessions: live lanes on a terminal, lines elsewhere. */
export const sessionPresenter: Presenter<'session'> = {
  kind: 'session',
  statusLines,
  startedLines: ({ lane_keys: keys }) => Object.entries(keys ?? {}).map(([lane, key]) => `lane key ${lane} ${key}`),
  watch: (terminal) => {
    const view = emptyView();
    const screen = terminal ? createScreen((columns, rows) => frame(view, columns, rows), terminal) : null;
    const tell = createTeller(view);
    return {
      hear: (heard) => {
        hear(view, heard);
        screen?.update();
        return screen ? [] : tell(heard);
      },
      close: () => screen?.close(),
      endLines: ({ id, state, result, error }, isLive) => {
        if (state === 'CANCELLED' && !result) return [`session ${id} was cancelled`];
        if (!isLive) return result && answerText(result.answer).includes('\n') ? [answerText(result.answer)] : [];
        if (result) return [answerText(result.answer), ...resultLines(result).map((line) => `  ${line}`)];
        return error ? [`${error.code}: ${error.message}`] : [`session ${id} was cancelled`];
      },
    };
  },
};
