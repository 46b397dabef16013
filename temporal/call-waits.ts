import { type Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { beatSchema, type CallWait } from '../src/contracts/call-wait.js';
import { openTurns } from './open-turns.js';
import { grpcError } from './temporal-errors.js';

/** Number of PENDING_ACTIVITY_STATE_STARTED in the API. */
const started = 2;

/** What activities of a workflow say with their heartbeats: which calls of theirs may not be made yet. */
export const callWaits = async (
  client: Client,
  { raw }: Pick<WorkflowExecutionDescription, 'raw'>,
): Promise<CallWait[]> => {
  const waits: CallWait[] = [];
  for (const { state, heartbeatDetails } of raw.pendingActivities ?? []) {
    const { payloads } = heartbeatDetails ?? {};
    if (state !== started || !payloads || payloads.length === 0) continue;
    const [said] = await decodeArrayFromPayloads(client.options.loadedDataConverter, payloads);
    const beat = beatSchema.safeParse(said); // clean-ups beat, too, and say other things
    if (beat.success) waits.push(...beat.data.waiting);
  }
  return waits;
};

/** Agents of a team that are looked at; of a team that waits, a few say why. */
const mostAgents = 20;
/** Milliseconds for which what was found holds: statuses may be asked for often. */
const freshMs = 1_000;
/** Milliseconds that a status waits for it. */
const deadlineMs = 2_000;

type WaitsByAgent = ReadonlyMap<string, readonly CallWait[]>;

/** What calls of a team's agents wait for, by agent: turns are workflows of their own. At most one look a second for each team. */
export const createTeamCallWaits = (client: Client): ((teamId: string) => Promise<WaitsByAgent>) => {
  const ofTurn = async (workflowId: string): Promise<CallWait[]> => {
    try {
      return await callWaits(client, await client.workflow.getHandle(workflowId).describe());
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return []; // over since it was listed
      throw error;
    }
  };
  const look = async (teamId: string): Promise<WaitsByAgent> => {
    const turns = await openTurns(client, teamId, mostAgents);
    const waits = await Promise.all(turns.map(({ id }) => ofTurn(id)));
    return new Map(turns.map(({ agent_id: agentId }, index) => [agentId, waits[index] ?? []]));
  };
  const kept = new Map<string, Promise<WaitsByAgent>>();
  return (teamId) => {
    const known = kept.get(teamId);
    if (known) return known;
    const found = client
      .withDeadline(Date.now() + deadlineMs, () => look(teamId))
      .catch((error: unknown): WaitsByAgent => {
        // A status without it is better than none.
        if (grpcError(error) === null) throw error;
        return new Map();
      });
    kept.set(teamId, found);
    setTimeout(() => kept.delete(teamId), freshMs).unref();
    return found;
  };
};
