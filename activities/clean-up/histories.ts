import { type Client, WorkflowNotFoundError } from '@temporalio/client';

/** What Temporal still knows, for who asks whether anything refers to a file. */
export interface HistoriesPort {
  /** Of the namespace: no other one, here or on another server, has the same. */
  namespaceId(): Promise<string>;
  /** Whatever stands in the histories of open and retained runs, and in the beats of running activities, a page at a time. */
  texts(signal: AbortSignal): AsyncIterable<string>;
  /** Whether Temporal has work of that id, open or retained. */
  isKnown(workId: string): Promise<boolean>;
}

/** Number of WORKFLOW_EXECUTION_STATUS_RUNNING in the API. */
const running = 1;
const notFound = 5;
const pageSize = 200;

const isNotFound = (error: unknown): boolean =>
  error instanceof WorkflowNotFoundError || (error as { code?: unknown }).code === notFound;

/** The texts and payloads of a message, whatever its shape: a field that the API gains later is seen too. */
const textsOf = function* (value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (value instanceof Uint8Array) yield Buffer.from(value).toString('latin1');
  else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) yield* textsOf(inner);
};

export const createHistories = (client: Client): HistoriesPort => {
  const { workflowService: service } = client;
  const { namespace } = client.options;

  const historyTexts = async function* (execution: object, signal: AbortSignal): AsyncGenerator<string> {
    for (let nextPageToken: Uint8Array = new Uint8Array(); ; ) {
      signal.throwIfAborted();
      const asked = { namespace, execution, nextPageToken, maximumPageSize: pageSize };
      const page = await service.getWorkflowExecutionHistory(asked);
      yield* textsOf(page.history?.events);
      nextPageToken = page.nextPageToken;
      if (nextPageToken.length === 0) return;
    }
  };

  return {
    namespaceId: async () => {
      const { namespaceInfo } = await service.describeNamespace({ namespace });
      return namespaceInfo?.id ?? namespace;
    },

    texts: async function* (signal) {
      for (let nextPageToken: Uint8Array = new Uint8Array(); ; ) {
        const page = await service.listWorkflowExecutions({ namespace, pageSize, nextPageToken });
        for (const { execution, status } of page.executions) {
          if (!execution) continue;
          try {
            yield* historyTexts(execution, signal);
            // What an activity last said of itself is in no history.
            if (status === running)
              yield* textsOf((await service.describeWorkflowExecution({ namespace, execution })).pendingActivities);
          } catch (error) {
            if (!isNotFound(error)) throw error; // it has just gone
          }
        }
        nextPageToken = page.nextPageToken;
        if (nextPageToken.length === 0) return;
      }
    },

    isKnown: async (workflowId) => {
      try {
        await service.describeWorkflowExecution({ namespace, execution: { workflowId } });
        return true;
      } catch (error) {
        if (isNotFound(error)) return false;
        throw error;
      }
    },
  };
};
