import { main } from '../../src/cli/program.js';

export interface Said {
  code: number;
  out: string;
  notes: string;
}

/** Runs one command line in this process, as a person at a pipe would. */
export const runCli = async (
  env: Record<string, string | undefined>,
  argv: readonly string[],
  stdin = '',
): Promise<Said> => {
  const [out, notes]: [string[], string[]] = [[], []];
  const code = await main(argv, {
    env,
    out: (text) => void out.push(text),
    note: (text) => void notes.push(text),
    readStdin: () => Promise.resolve(stdin),
    terminal: null,
    onInterrupt: () => () => undefined,
  });
  return { code, out: out.join('\n'), notes: notes.join('\n') };
};
