import { createInterface, type Interface } from 'node:readline/promises';
import type { Aggregation } from '../contracts/coordinator-status.js';
import { runStories, type RunStory } from './run-stories.js';

/** Stories whose runs ask something now, and are asked for an answer. */
const asking = ({ runs }: Aggregation): RunStory[] =>
  runStories.filter(({ workId, stop }) =>
    runs.some(({ work_id: id, feedback_request: request }) => stop && id === workId && request !== undefined),
  );
const lineOf = ({ workId, stop }: RunStory): string => `#${workId}: ${stop?.answer}`;

const openTerminal = (): Interface => {
  const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' });
  // A terminal that is read keeps Ctrl-C to itself.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  return terminal;
};

/** Lines of a person, up to an empty one; nothing at all takes the demo's own. */
const typed = async (own: readonly string[], say: (line: string) => void): Promise<string> => {
  say('Your answers, a line for each run; an empty line sends them. Nothing but Enter sends these:');
  for (const line of own) say(`  ${line}`);
  const terminal = openTerminal();
  const lines: string[] = [];
  terminal.prompt();
  for await (const line of terminal) {
    if (line.trim() === '') break;
    lines.push(line);
    terminal.prompt();
  }
  terminal.close();
  return (lines.length === 0 ? own : lines).join('\n');
};

/**
 * Gives one text that answers all that ask: of whoever sits at the terminal, else the demo's own, once for each run.
 * @throws Error where the demo has no answer: a run asks what it should not
 */
export const createAnswers = (say: (line: string) => void): ((report: Aggregation) => Promise<string>) => {
  const given = new Set<string>();
  return async (report) => {
    if (process.stdin.isTTY) return await typed(asking(report).map(lineOf), say);
    const own = asking(report).filter(({ workId }) => !given.has(workId));
    if (own.length === 0) throw new Error('The runs ask what the demo has no answer for; the report above says why.');
    say('Nobody is at the terminal: the demo answers, in one text, as a person could:');
    for (const story of own) {
      given.add(story.workId);
      say(`  ${lineOf(story)}`);
    }
    return own.map(lineOf).join('\n');
  };
};

export const untilEnter = async (question: string): Promise<void> => {
  const terminal = openTerminal();
  await terminal.question(question);
  terminal.close();
};
