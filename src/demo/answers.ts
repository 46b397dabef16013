import { createInterface, type Interface } from 'node:readline/promises';
import type { Aggregation } from '../contracts/coordinator-status.js';
import { runStories } from './run-stories.js';

/** What the demo answers where nobody else does. */
const ownAnswers = ({ runs }: Aggregation): string[] =>
  runStories.flatMap(({ workId, stop }) => {
    const isAsked = runs.some(({ work_id: id, feedback_request: request }) => id === workId && request !== undefined);
    return stop && isAsked ? [`#${workId}: ${stop.answer}`] : [];
  });

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

/** One text that answers all that ask: of whoever sits at the terminal, else the demo's own. */
export const answersTo = async (report: Aggregation, say: (line: string) => void): Promise<string> => {
  const own = ownAnswers(report);
  if (process.stdin.isTTY) return await typed(own, say);
  say('Nobody is at the terminal: the demo answers, in one text, as a person could:');
  for (const line of own) say(`  ${line}`);
  return own.join('\n');
};

export const untilEnter = async (question: string): Promise<void> => {
  const terminal = openTerminal();
  await terminal.question(question);
  terminal.close();
};
