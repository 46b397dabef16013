import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defaultPayloadConverter } from '@temporalio/common';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Kind, Lifecycle } from '../../src/contracts/work.js';
import { createReplayer } from '../../temporal/replaying.js';
import { historyText } from './history-text.js';
import { startProduct, type Product } from './product.js';

/** One story for every terminal state and every way through the workflow that leaves other commands behind. */
export interface Story {
  /** Starts it with that id. */
  start: (product: Product, id: string) => Promise<unknown>;
  /** What happens to it until it ends by itself. */
  act?: (product: Product, id: string) => Promise<unknown>;
}

interface Recorded {
  lifecycle: Lifecycle;
  state: string;
}

const folder = fileURLToPath(new URL('../replay/histories/', import.meta.url));
/** A cancelled run's close event has no room for its outcome: it stands beside the history. */
const outcomeFile = (name: string): string => `${folder}../outcomes/${name}.json`;

const record = async (
  kind: Kind,
  stories: Record<string, Story>,
  look: (product: Product, id: string) => Promise<Recorded>,
  environment: Record<string, string>,
): Promise<void> => {
  // A history in a file has no store beside it.
  const product = await startProduct({ PARLEY_INLINE_BYTES: '1500000', ...environment });
  mkdirSync(`${folder}../outcomes`, { recursive: true });
  try {
    for (const [name, { start, act }] of Object.entries(stories)) {
      const id = `recorded-${name}`;
      await start(product, id);
      await act?.(product, id);
      const handle = product.client.workflow.getHandle(id);
      const isFailed = await handle.result().then(
        () => false,
        () => true,
      );
      writeFileSync(`${folder}${kind}-${name}.json`, historyText(await handle.fetchHistory()));
      const status = await look(product, id);
      if (isFailed && status.lifecycle === 'cancelled')
        writeFileSync(outcomeFile(`${kind}-${name}`), `${JSON.stringify(status, null, 2)}\n`);
    }
  } finally {
    await product.stop();
  }
};

/** The status that a recorded run closed with, wherever its way of closing keeps it. */
const recordedOutcome = (name: string, history: ReturnType<typeof historyFromJSON>): unknown => {
  const last = history.events?.at(-1);
  const failure = last?.workflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo?.details;
  const payloads = last?.workflowExecutionCompletedEventAttributes?.result?.payloads ?? failure?.payloads;
  if (last?.workflowExecutionCanceledEventAttributes) return JSON.parse(readFileSync(outcomeFile(name), 'utf8'));
  return payloads?.[0] ? defaultPayloadConverter.fromPayload(payloads[0]) : undefined;
};

const isRecording = process.env['PARLEY_RECORD'] === '1';

/**
 * Describes the recorded histories of one kind of work: each replays to the outcome it was recorded with, and there is one for
 * each story. PARLEY_RECORD=1 writes them anew, after a change that is meant to alter what happens.
 * @param older names of histories that only an earlier version leaves behind: they are never written anew
 */
export const describeReplays = (
  kind: Kind,
  terminal: RegExp,
  stories: Record<string, Story>,
  look: (product: Product, id: string) => Promise<Recorded>,
  environment: Record<string, string> = {},
  older: readonly string[] = [],
): void => {
  if (isRecording) beforeAll(() => record(kind, stories, look, environment), 300_000);
  const recorded = (): string[] =>
    readdirSync(folder)
      .filter((file) => file.startsWith(`${kind}-`))
      .map((file) => file.slice(kind.length + 1, -'.json'.length));

  describe(`a recorded history of a ${kind} replays to the outcome it was recorded with`, () => {
    const replayer = createReplayer({ bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' });
    afterAll(() => replayer.close());

    test.each(isRecording ? Object.keys(stories) : recorded())('%s', async (name) => {
      const history = historyFromJSON(JSON.parse(readFileSync(`${folder}${kind}-${name}.json`, 'utf8')));
      const outcomes: unknown[] = [];
      const onOutcome = (outcome: unknown) => void outcomes.push(outcome);
      await replayer.replay({ history, workId: `recorded-${name}`, onOutcome });
      const outcome = recordedOutcome(`${kind}-${name}`, history) as Recorded;
      expect(outcome.state).toMatch(terminal);
      expect(outcomes).toEqual([outcome]);
    });

    test('and every way it can end is among them', () => {
      expect(recorded().toSorted()).toEqual([...Object.keys(stories), ...older].toSorted());
    });
  });
};
