import type { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { Json } from '../src/contracts/frames.js';
import type { History } from './replaying.js';

/** What a run was started with; `request` is null for one of before bodies were kept. */
export interface StartedWith {
  setup: unknown;
  request: Json;
}

/** @param history may be its first page alone @throws Error where it does not begin with the start of a workflow */
export const startedWith = async (client: Client, history: History): Promise<StartedWith> => {
  const events = (
    history as { events?: { workflowExecutionStartedEventAttributes?: { input?: { payloads?: Payload[] } } }[] }
  ).events;
  const started = events?.[0]?.workflowExecutionStartedEventAttributes;
  if (!started) throw new Error('the history does not begin with the start of a workflow');
  const [setup, , request] = await decodeArrayFromPayloads(
    client.options.loadedDataConverter,
    started.input?.payloads ?? [],
  );
  return { setup, request: (request ?? null) as Json };
};
