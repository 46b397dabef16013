import { asks, CoordinatorPlay, done, failed } from './coordinator-play.js';

/** Five runs on five repositories: two complete, two await feedback, and one does not compile. */
export const fiveRuns = (): CoordinatorPlay => {
  const pr = (number: number) => ({
    branch: `feat/${number}`,
    artifacts: { pr_url: `https://git.example/acme/${number}/pull/1` },
  });
  return new CoordinatorPlay(['122', '123', '124', '125', '126']).all({
    '122': { ...done, ...pr(122), outcome: 'released' },
    '123': { ...done, ...pr(123), outcome: 'released' },
    '124': {
      status: 'awaiting_feedback',
      branch: 'feat/124',
      request: asks({ prompt: 'Is this plan right?\n1. Split the module\n2. Keep the tests' }),
    },
    '125': {
      status: 'awaiting_feedback',
      branch: 'feat/125',
      request: asks({
        type: 'error_resolution',
        prompt: 'Two tests of the parser fail. What now?',
        phase: 'evaluate',
        step: 'test',
      }),
    },
    '126': { ...failed('src/main.ts(3,7): error TS2322: Type string | null is not assignable'), branch: 'feat/126' },
  });
};

/** What a person answers them with. */
export const fiveAnswers = '#124: approve\n#125: retry\n#126: abort\n';
