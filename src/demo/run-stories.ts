import type { Role } from '../contracts/debate.js';
import type { OpenRunBody } from '../contracts/run.js';
import { dates, prices, type Project, settings, slugs, totals } from './projects.js';

type Phase = OpenRunBody['phases'][number];
type Step = Phase['steps'][number];
type With = NonNullable<Step['with']>;

/** One run of the demo, and what somebody answers it with. */
export interface RunStory {
  workId: string;
  project: Project;
  /** What is wrong, in a few words. */
  issue: string;
  phases: Phase[];
  /** Where it stops for people, and what the demo answers; left out: it asks nobody. */
  stop?: { state: 'awaiting_feedback' | 'error'; answer: string };
  end: 'completed' | 'cancelled';
}

const asWith = (body: object): With => JSON.parse(JSON.stringify(body)) as With;

const scripted = (...said: (string | object)[]) => ({
  kind: 'scripted',
  script: said.map((one) => ({ after_ms: 150, final: typeof one === 'string' ? one : JSON.stringify(one) })),
});

const command = (name: string, argv: string[], more: Partial<Step> = {}): Step => ({
  name,
  kind: 'command',
  with: { argv },
  ...more,
});
const sed = (name: string, expression: string, file: string): Step => command(name, ['sed', '-i', expression, file]);
const test = (more: Partial<Step> = {}): Step => command('test', ['node', '--test', '--test-reporter=spec'], more);

/** Two lanes that are asked the same, and say the same. */
const session = (name: string, prompt: string, answer: string, more: Partial<Step> = {}): Step => ({
  name,
  kind: 'session',
  with: asWith({
    prompt,
    lanes: ['reader', 'tester'].map((lane) => ({ lane_id: lane, adapter: scripted(answer) })),
  }),
  ...more,
});

const says = (confidence: number, position: string, more: object = {}): object => ({
  stance: 'for',
  confidence,
  position,
  issues: [],
  ...more,
});

const roundedTax: Record<Role, object> = {
  analyst: says(0.9, 'withTax() adds the share itself. Success: node --test exits 0.'),
  solution: says(0.9, 'Multiply, and round to whole cents.', {
    plan: {
      tasks: [
        { task_id: 'multiply', argv: ['sed', '-i', 's/cents + tax/Math.round(cents * (1 + tax))/', 'prices.js'] },
        { task_id: 'test', argv: ['node', '--test'], depends_on: ['multiply'] },
      ],
    },
  }),
  critic: says(0.9, 'The test tells whether it is right.'),
  security: says(0.9, 'One file in the folder changes, and nothing needs the network.'),
  optimizer: says(0.8, 'Nothing to take away.'),
};

const debate = (name: string, task: string, said: Record<Role, object>): Step => ({
  name,
  kind: 'debate',
  with: asWith({
    task,
    roles: Object.fromEntries(Object.entries(said).map(([role, one]) => [role, { adapter: scripted(one) }])),
  }),
});

const refinement = (name: string, task: string, versions: string[], scores: number[]): Step => ({
  name,
  kind: 'refinement',
  with: asWith({
    task,
    generator: { adapter: scripted(...versions) },
    critic: { adapter: scripted(...scores.map((score) => ({ score, feedback: 'Say what a reader sees of it.' }))) },
  }),
});

export const runStories: readonly RunStory[] = [
  {
    workId: '123',
    project: slugs,
    issue: 'two hyphens in a row in addresses',
    phases: [
      {
        name: 'frame',
        steps: [session('cause', 'Why has "Hello,  World!" two hyphens?', 'Each mark becomes one: the + is missing.')],
      },
      { name: 'build', steps: [sed('edit', 's/0-9\\]/0-9]+/', 'slugs.js')] },
      { name: 'evaluate', steps: [test()] },
      {
        name: 'release',
        steps: [
          refinement(
            'note',
            'One line for the changelog.',
            ['Fixed a regular expression.', 'Addresses have no two hyphens in a row any more.'],
            [0.5, 0.9],
          ),
        ],
      },
    ],
    end: 'completed',
  },
  {
    workId: '124',
    project: settings,
    issue: 'the port is a text, and missing where nobody sets it',
    phases: [
      {
        name: 'architect',
        steps: [
          session('plan', 'How is PORT read?', '1. Take 3000 where PORT is not set\n2. Read what is set as a number', {
            gate: { prompt: 'Is this plan right?' },
          }),
        ],
      },
      { name: 'build', steps: [sed('edit', 's/env.PORT,/Number(env.PORT ?? 3000),/', 'settings.js')] },
      { name: 'evaluate', steps: [test()] },
    ],
    stop: { state: 'awaiting_feedback', answer: 'approve' },
    end: 'completed',
  },
  {
    workId: '125',
    project: dates,
    issue: 'days are written month first',
    phases: [
      {
        name: 'build',
        // Right but for the month, which begins at 0: the test finds it.
        steps: [
          command('edit', [
            'sh',
            '-c',
            `echo 'export const day = (date) => [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()].map((part) => String(part).padStart(2, "0")).join("-");' > dates.js`,
          ]),
        ],
      },
      { name: 'evaluate', steps: [test({ on_error: 'ask' })] },
    ],
    stop: { state: 'awaiting_feedback', answer: 'retry' },
    end: 'completed',
  },
  {
    workId: '126',
    project: totals,
    issue: 'the sum of nothing is an error',
    phases: [
      {
        name: 'build',
        // One bracket too few.
        steps: [
          sed('edit', 's/sum + amount);/sum + amount, 0;/', 'totals.js'),
          command('compile', ['npm', 'run', '--silent', 'compile']),
        ],
      },
      { name: 'evaluate', steps: [test()] },
    ],
    stop: { state: 'error', answer: 'abort' },
    end: 'cancelled',
  },
  {
    workId: '127',
    project: prices,
    issue: 'the tax is added as if it were cents',
    phases: [
      { name: 'build', steps: [debate('argue', 'Make `node --test` pass; leave the test as it is.', roundedTax)] },
      { name: 'evaluate', steps: [test()] },
    ],
    end: 'completed',
  },
];

/** Corrects what the test of #125 has found, in the folder of its run. */
export const monthMended = (source: string): string => source.replace(/getUTCMonth\(\)(?! \+ 1)/, 'getUTCMonth() + 1');

/** The body of a story's run, on the repository of its project. */
export const runOf = ({ workId, phases }: RunStory, repo: string): OpenRunBody => ({
  work_id: workId,
  workspace: { repo, branch: `feat/${workId}` },
  phases,
  labels: { demo: 'runs' },
});
