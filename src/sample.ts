import { fileURLToPath } from 'node:url';
import { readFile } from 'node:fs/promises';
import { ParleyClient } from './cli/client.js';
import { createTeller } from './cli/lines.js';
import { nameOf, type NamedModel } from './cli/models.js';
import { emptyView, hear } from './cli/view.js';
import type { OpenSessionBody } from './contracts/session.js';
import type { SessionStatus } from './contracts/session-status.js';

type LaneBody = OpenSessionBody['lanes'][number];

export interface SampleOptions {
  /** Where the gateway listens, such as http://127.0.0.1:3000. */
  baseUrl: string;
  apiKey?: string | undefined;
  /** Real models to seat in place of the simulated ones. */
  models?: readonly NamedModel[];
  /** Takes one line at a time. */
  out: (line: string) => void;
}

const samplePath = (path: string): string => fileURLToPath(new URL(`./sample/${path}`, import.meta.url));
const programs = ['linter', 'type-checker', 'test-runner', 'coverage'] as const;
const argvOf = (program: string): string[] => [process.execPath, samplePath(`personas/${program}.js`)];

/** The programs the sample runs as lanes, as argv prefixes: an operator who wants the sample trusts exactly these. */
export const sampleTrustedCommands = (): string[][] => programs.map(argvOf);

/** The seats of the two models, the last and best of those there are in the reviewer's; simulated without any. */
const seated = (
  models: readonly NamedModel[],
  seat: 'skimmer' | 'reviewer',
  simulated: LaneBody['adapter'],
): LaneBody['adapter'] => (seat === 'skimmer' ? models[0] : models.at(-1)) ?? simulated;

const sayIt = 'Reply with one line of the form "At fault: functionName (till.js:LINE). Why."';

const body = (source: string, models: readonly NamedModel[]): OpenSessionBody => ({
  prompt: `Two tests of this little till fail. Which function is at fault?\n\n${source}`,
  labels: { sample: 'true' },
  lanes: [
    {
      lane_id: 'skimmer',
      tier: 'bronze',
      persona: { persona_id: 'skimmer', instructions: `Glance at the code and guess. ${sayIt}` },
      adapter: seated(models, 'skimmer', {
        kind: 'simulated',
        model: 'small',
        seed: 11,
        accuracy: 1,
        answer: 'At fault: receiptTotal (till.js:27). The last failing test is about receipts.',
        first_token_ms: 150,
        tokens_per_second: 30,
      }),
    },
    ...programs.map((program) => ({
      lane_id: program,
      persona: { persona_id: program },
      adapter: { kind: 'command' as const, argv: argvOf(program) },
    })),
    {
      lane_id: 'reviewer',
      tier: 'gold',
      persona: { persona_id: 'reviewer', instructions: `Read every line before you answer. ${sayIt}` },
      adapter: seated(models, 'reviewer', {
        kind: 'simulated',
        model: 'large',
        seed: 12,
        accuracy: 1,
        answer:
          'At fault: applyDiscount (till.js:13). It compares the type of the discount with "numbr", which no value has, ' +
          'so a discount in cents is read as a percentage, and the receipt that rests on it is wrong as well.',
        first_token_ms: 1_200,
        tokens_per_second: 10,
      }),
    },
  ],
  policy: { agreement: { method: 'choice', choice: { regex: 'At fault: (\\w+) \\(' } }, deadline_ms: 60_000 },
});

/**
 * One session over real input: a linter, the type checker, a test run and a coverage analysis each look for the same bug,
 * beside two simulated models. Tells what happens line by line. @returns the session's status at its end
 */
export const runSample = async ({ baseUrl, apiKey, models = [], out }: SampleOptions): Promise<SessionStatus> => {
  const client = new ParleyClient({ baseUrl, apiKey });
  const source = await readFile(samplePath('project/till.js'), 'utf8');
  out('Sample: which function of src/sample/project/till.js makes its tests fail?');
  const others = models.length > 0 ? models.map(nameOf).join(' and ') : 'two simulated models';
  out(`Asked: four programs that examine it (linter, type checker, test run, coverage), ${others}.`);
  const { id } = await client.start('session', body(source, models));
  const view = emptyView();
  const tell = createTeller(view);
  for await (const heard of client.follow('session', id)) {
    hear(view, heard);
    for (const line of tell(heard)) out(line);
  }
  return await client.ended('session', id);
};
