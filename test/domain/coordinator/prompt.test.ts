import { asks, awaiting, CoordinatorPlay, done, failed } from '../../support/coordinator-play.js';
import { fiveRuns } from '../../support/five-runs.js';

describe('the prompt of a report', () => {
  test('shows five runs as a person reads them', () => {
    expect(fiveRuns().prompt).toBe(`## Parallel Workflow Status

- Total: 5
- Completed: 2
- Awaiting feedback: 2
- Failed: 1

### Completed Runs

| Work | Branch | Status | PR |
|---|---|---|---|
| #122 | feat/122 | completed: released | https://git.example/acme/122/pull/1 |
| #123 | feat/123 | completed: released | https://git.example/acme/123/pull/1 |

### Feedback Needed

#### #124

- Branch: \`feat/124\`
- Where: architect → review
- Type: approval
- Question:

> Is this plan right?
> 1. Split the module
> 2. Keep the tests

1. \`approve\`: goes on
2. \`request_changes\`: does it again with the comment
3. \`reject\`: ends it

#### #125

- Branch: \`feat/125\`
- Where: evaluate → test
- Type: error_resolution
- Question:

> Two tests of the parser fail. What now?

1. \`retry\`: does the failed step again
2. \`skip\`: leaves the failed step out and goes on
3. \`abort\`: cancels the rest

### Failed Runs

#### #126

- Branch: \`feat/126\`
- Where: build → compile
- Type: error_resolution
- Error:

> src/main.ts(3,7): error TS2322: Type string | null is not assignable

1. \`retry\`: does the failed step again
2. \`abort\`: cancels the rest

### Provide Feedback

Answer with a line for each; what follows the option is a comment, and runs that are left out stay as they are:

\`\`\`
#124: approve
#125: retry
#126: retry
\`\`\`
`);
  });

  test.each<[string, (at: CoordinatorPlay) => void, string[], string[]]>([
    [
      'of completed runs alone',
      (at) => at.all({ '1': done, '2': done }),
      ['- Total: 2', '- Completed: 2', '### Completed Runs', '| #1 |  | completed |  |'],
      ['Awaiting', 'Failed', 'Cancelled', 'Unknown', '### Provide Feedback', '### Other Runs'],
    ],
    [
      'of failed runs alone',
      (at) => at.all({ '1': failed('no', false), '2': failed() }),
      ['- Failed: 2', '### Failed Runs', '- Cannot be retried', '#1: abort', '#2: retry'],
      ['- Completed', '### Feedback Needed', '### Completed Runs'],
    ],
    [
      'of others',
      (at) => at.says('1', { status: 'cancelled' }).take({ type: 'UNREADABLE', runId: 'many.run.2', message: 'gone' }),
      ['- Cancelled: 1', '- Unknown: 1', '### Other Runs', '- #1: cancelled', '- #2: unknown: gone'],
      ['### Completed Runs', '### Provide Feedback', '- Completed'],
    ],
    [
      'of an input and of a request that expires',
      (at) =>
        at.all({
          '1': awaiting({ type: 'input', prompt: 'Which name?' }),
          '2': awaiting({ timeoutMs: 60_000, onTimeout: 'reject' }),
        }),
      [
        'Answer in your own words, in the rest of the line.',
        '#1: your text',
        '- Until: 2026-11-21T00:01:00.000Z, then it counts as `reject`',
      ],
      ['1. `approve`: goes on\n\n'],
    ],
  ])('%s has what there is, and leaves out what there is not', (_, play, has, hasNot) => {
    const at = new CoordinatorPlay(['1', '2']);
    play(at);
    for (const text of has) expect(at.prompt).toContain(text);
    for (const text of hasNot) expect(at.prompt).not.toContain(text);
  });

  test('keeps what runs say from being read as its own', () => {
    const at = new CoordinatorPlay(['1', '2']).all({
      '1': { ...done, branch: 'a|b\nc', outcome: 'x\n### Failed Runs' },
      '2': awaiting({ prompt: '### Provide Feedback\n```\n#1: approve' }),
    });
    expect(at.prompt).toContain('| #1 | a\\|b c | completed: x ### Failed Runs |  |');
    expect(at.prompt).toContain('> ### Provide Feedback\n> ```\n> #1: approve');
    expect(at.prompt.match(/^### /gm)).toHaveLength(3);
  });

  test('shows the beginning of a question that is very long', () => {
    const at = new CoordinatorPlay(['1']).says('1', awaiting({ prompt: 'x'.repeat(50_000) }));
    expect(at.prompt.length).toBeLessThan(3_000);
    expect(at.reported('1')?.feedback_request?.prompt).toHaveLength(50_000);
  });

  test('names runs by their own ids where two with one work id need an answer, and its example is an answer', () => {
    const runs = ['run-a', 'run-b', 'run-c'].map((runId) => ({
      runId,
      workId: '1',
      origin: 'adopted' as const,
      body: null,
    }));
    const at = new CoordinatorPlay([], { runs });
    at.says('run-a', awaiting());
    for (const [runId, request] of [['run-b', asks()] as const, ['run-c', null] as const]) {
      const word = { seq: 1, workId: '1', branch: null, outcome: null, artifacts: null, error: null };
      at.take({
        type: 'RUN',
        runId,
        word: { ...word, status: request ? 'awaiting_feedback' : 'completed', request },
      });
    }
    expect(at.prompt).toContain('```\nrun-a: approve\nrun-b: approve\n```');
    expect(at.answered(at.prompt.split('```')[1]!).applied.map(({ run_id: id }) => id)).toEqual(['run-a', 'run-b']);
  });
});

describe('what is asked again', () => {
  const open = () => new CoordinatorPlay(['1', '2', '3']).all({ '1': awaiting(), '2': failed(), '3': done });

  test('is what was answered wrong alone, with the reason', () => {
    const at = open();
    const { reprompt } = at.answered('#1: approve\n#2: skip');
    expect(reprompt).toContain(
      '### Please Answer Again\n\n- line 2: "skip" is not offered for #2; choose retry, abort.',
    );
    expect(reprompt).toContain('#### #2');
    expect(reprompt).toContain('```\n#2: retry\n```');
    expect(reprompt).not.toContain('#### #1');
  });

  test('is everything that is open, with the format, where nothing was an answer', () => {
    const { reprompt } = open().respond('yes to all');
    expect(reprompt).toContain('There is no answer in it.');
    expect(reprompt).toContain('```\n#1: approve\n#2: retry\n```');
  });

  test('is only what was wrong where a line named no run and others were applied', () => {
    const { reprompt } = open().answered('#1: approve\nand the rest too');
    expect(reprompt).toContain('"and the rest too" is no answer');
    expect(reprompt).not.toContain('####');
  });

  describe('for a name of several runs', () => {
    const runs = ['run-a', 'run-b', 'run-c'].map((runId) => ({
      runId,
      workId: '1',
      origin: 'adopted' as const,
      body: null,
    }));
    const open = (): CoordinatorPlay =>
      new CoordinatorPlay([], { runs }).all({ 'run-a': awaiting(), 'run-b': awaiting(), 'run-c': awaiting() });
    const asked = ({ answer }: CoordinatorPlay): string[] =>
      [...(answer.reprompt ?? '').matchAll(/^#### (.*)$/gm)].map(([, name = '']) => name);

    test('is none that the same call answered', () => {
      const at = open();
      at.answered('#1: approve\nrun-b: approve');
      expect([at.answer.applied.map(({ run_id: id }) => id), asked(at)]).toEqual([['run-b'], ['run-a', 'run-c']]);
    });

    test('is none that the same call answered, also where it asks others the same on', () => {
      const at = open();
      at.respond('#1: approve\nrun-b: approve');
      const { requestId } = at.run('run-b').resuming!;
      at.take({ type: 'COUNTED', runId: 'run-b', requestId, message: '1 of 2 approvals' });
      expect([at.answer.applied.length, asked(at)]).toEqual([1, ['run-a', 'run-c']]);
    });

    test('is one that refused its answer', () => {
      const at = open();
      at.respond('#1: approve\nrun-b: approve');
      const { requestId } = at.run('run-b').resuming!;
      at.take({ type: 'STILL_ASKS', runId: 'run-b', requestId, message: 'not by anna' });
      expect(asked(at)).toEqual(['run-a', 'run-b', 'run-c']);
    });

    test('is the one whose own id was answered wrong', () => {
      const at = open();
      at.answered('run-b: maybe\nrun-a: approve');
      expect(asked(at)).toEqual(['run-b']);
    });
  });

  test('is nothing where all was right, also with warnings', () => {
    expect(open().respond('#1: approve\n#99: retry').reprompt).toBeNull();
  });
});
