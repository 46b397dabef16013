import {
  ActivityCancellationType,
  proxyActivities,
  proxySinks,
  type ActivityInterfaceFor,
  type Sinks,
} from '@temporalio/workflow';
import type { ToolActivities } from '../activities/call-tool.js';
import type { Activities } from '../activities/index.js';
import type { Adapter } from '../src/contracts/adapter.js';
import type { PartialEvent } from '../src/contracts/events.js';
import type { Place } from '../src/domain/checkpoint.js';
import type { CheckpointState } from '../src/domain/checkpoint-view.js';
import type { TurnOutcome } from '../src/domain/team/outcome.js';
import type { Kind, Lifecycle, Spend } from '../src/contracts/work.js';

/** What every kind's status has (spec 10 "Status, for every kind"), as far as a run and its worker look at it. */
export interface WorkOutcome {
  id: string;
  kind: Kind;
  tenant: string;
  lifecycle: Lifecycle;
  state: string;
  error: { code: string; message: string } | null;
  waiting: { for: string; detail: string } | null;
  spend: Spend;
  started_at: string;
  ended_at: string | null;
}

export interface ParleySinks extends Sinks {
  bus: {
    /** Tells watchers that durable events may have grown, or lanes that their directives changed. A hint, never a fact. */
    hint(type: 'touched' | 'directed'): void;
    /** Text of an external lane, which no worker streams. */
    partial(piece: PartialEvent): void;
  };
  trace: {
    /** How a run ended; called during replay too, so that a replay can be compared with what was recorded. */
    outcome(status: WorkOutcome): void;
    /** The checkpoint that a replay inspects; never called otherwise. */
    checkpoint(inspected: CheckpointState): void;
    /**
     * Where the run stands, after each step of a replay that inspects one checkpoint, with the marks that are new; never called
     * otherwise.
     */
    place(place: Place): void;
    /** How the delivery of an event to a receiver ended. */
    delivery(state: 'delivered' | 'dead'): void;
    /** How a turn of an agent ended, and how many milliseconds after it had its slot. */
    turn(adapter: Adapter, outcome: TurnOutcome['type'], milliseconds: number): void;
    /** How many questions to agents wait in a team now. */
    queue(depth: number): void;
  };
}
export const { bus, trace } = proxySinks<ParleySinks>();

/**
 * Lanes beat about every 8 s of these 10 (a beat of 1 s kills living work on a busy server: bench figures); a dead worker on
 * the same host is found at start-up instead. A day and an hour: longer than any deadline a session can have.
 */
export const lanes = proxyActivities<Pick<Activities, 'runLanes'>>({
  startToCloseTimeout: '25 hours',
  heartbeatTimeout: '10 seconds',
  retry: {
    initialInterval: '200 milliseconds',
    backoffCoefficient: 2,
    maximumInterval: '5 seconds',
    maximumAttempts: 20,
  },
});

type Calls = Pick<Activities, 'askAgent' | 'judgeAnswers'>;
/** A call that is paid for: once more when the worker died under it, not when the agent refused. */
export const calls = (timeoutMs: number): ActivityInterfaceFor<Calls> =>
  proxyActivities<Calls>({
    startToCloseTimeout: timeoutMs,
    scheduleToCloseTimeout: timeoutMs,
    heartbeatTimeout: '10 seconds',
    retry: { maximumAttempts: 2 },
  });

/** A role's call: it ends itself in time, and is asked once more when the worker died under it. */
export const roleCalls = (timeoutMs: number): ActivityInterfaceFor<Pick<Activities, 'askRole'>> =>
  proxyActivities<Pick<Activities, 'askRole'>>({
    startToCloseTimeout: timeoutMs,
    heartbeatTimeout: '10 seconds',
    retry: { maximumAttempts: 3 },
  });

type Drafting = Pick<Activities, 'generateVersion' | 'scoreVersion'>;
/** A generator's or a critic's call; as a role's. */
export const refinementCalls = (timeoutMs: number): ActivityInterfaceFor<Drafting> =>
  proxyActivities<Drafting>({
    startToCloseTimeout: timeoutMs,
    heartbeatTimeout: '10 seconds',
    retry: { maximumAttempts: 3 },
  });

/** Waits for a person without a limit: an attempt that has taken its time, or whose worker died, is followed by another. */
export const personWaits = proxyActivities<Pick<Activities, 'awaitBudget'>>({
  startToCloseTimeout: '30 days',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds' },
});

/** What became of work that was cancelled by itself; who has started it goes on without, where nobody can say. */
export const endedWork = proxyActivities<Pick<Activities, 'statusOfWork'>>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds', maximumAttempts: 6 },
});

/** null: any worker will do. */
type Queue = string | null;
const on = (queue: Queue) => (queue === null ? {} : { taskQueue: queue });

type FanIns = Pick<Activities, 'fanIn' | 'scoreFanIn' | 'putBackArtifacts'>;
/** Of any machine's: it says where the namespaces are from here on. */
export const fanOutPreparations = proxyActivities<Pick<Activities, 'prepareFanOut'>>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds', maximumAttempts: 10 },
});

/**
 * A worker's call: it ends itself in time, and is made again when its machine's worker died. One that is stopped is waited for,
 * so that a result that comes late is still recorded.
 */
export const workersOn = (queue: Queue, timeoutMs: number): ActivityInterfaceFor<Pick<Activities, 'runWorker'>> =>
  proxyActivities<Pick<Activities, 'runWorker'>>({
    ...on(queue),
    startToCloseTimeout: timeoutMs,
    heartbeatTimeout: '5 seconds',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds', maximumAttempts: 3 },
  });

/** What combines: it may ask an orchestrator or a critic, each twice at most. */
export const fanInsOn = (queue: Queue): ActivityInterfaceFor<FanIns> =>
  proxyActivities<FanIns>({
    ...on(queue),
    startToCloseTimeout: '10 minutes',
    retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds', maximumAttempts: 3 },
  });

type Tasks = Pick<Activities, 'runTask' | 'undoTask' | 'checkHealth'>;
/** A task that had finished answers with its report however often it is tried; a stopped one is waited for. */
export const tasksOn = (queue: Queue, timeoutMs: number): ActivityInterfaceFor<Tasks> =>
  proxyActivities<Tasks>({
    ...on(queue),
    startToCloseTimeout: timeoutMs,
    heartbeatTimeout: '10 seconds',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds', maximumAttempts: 5 },
  });

type Actions = Pick<Activities, 'takeSnapshot' | 'restoreSnapshot' | 'appendAudit' | 'forgetWorkspace'>;
/** Steps on one worker's machine that are safe to repeat; a rollback is worth many tries. */
export const actionsOn = (queue: Queue): ActivityInterfaceFor<Actions> =>
  proxyActivities<Actions>({
    ...on(queue),
    startToCloseTimeout: '1 hour',
    heartbeatTimeout: '10 seconds',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds', maximumAttempts: 10 },
  });

/** On whichever worker takes it, unless a run's folder says where; it says where everything else has to go. */
export const verificationsOn = (queue: Queue): ActivityInterfaceFor<Pick<Activities, 'verifyIdentity'>> =>
  proxyActivities<Pick<Activities, 'verifyIdentity'>>({
    ...on(queue),
    startToCloseTimeout: '1 minute',
    heartbeatTimeout: '10 seconds',
    retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds', maximumAttempts: 10 },
  });

type Folders = Pick<Activities, 'prepareRunFolder' | 'closeRunFolder' | 'copyFiles'>;
/** The folder of a run, or those of a team's agents, made by whichever worker takes it first and kept on its machine; git may have much to copy. */
export const foldersOn = (queue: Queue): ActivityInterfaceFor<Folders> =>
  proxyActivities<Folders>({
    ...on(queue),
    startToCloseTimeout: '1 hour',
    heartbeatTimeout: '10 seconds',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds', maximumAttempts: 5 },
  });

type Models = Pick<Activities, 'askModel'>;
/** A team's model call, for a program on the machine with the team's folders: what goes wrong with the model is an answer. A stopped one is waited for, as it says how far it had come. */
export const modelCallsOn = (queue: Queue): ActivityInterfaceFor<Models> =>
  proxyActivities<Models>({
    ...on(queue),
    startToCloseTimeout: '1 hour',
    heartbeatTimeout: '10 seconds',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds', maximumAttempts: 3 },
  });

type Tools = Pick<ToolActivities, 'callTool'>;
/** A call of a tool, on the machine with the team's folders; what must not be done twice is not. */
export const toolsOn = (queue: Queue): ActivityInterfaceFor<Tools> =>
  proxyActivities<Tools>({
    ...on(queue),
    startToCloseTimeout: '70 minutes',
    heartbeatTimeout: '10 seconds',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds', maximumAttempts: 3 },
  });

type TeamUpkeep = Pick<Activities & ToolActivities, 'prepareTools' | 'lostTurns' | 'stopTurns'>;
/** What a team asks of whichever worker takes it, or of the machine with the folder of its run; each is safe to repeat. */
export const teamUpkeepOn = (queue: Queue): ActivityInterfaceFor<TeamUpkeep> =>
  proxyActivities<TeamUpkeep>({
    ...on(queue),
    startToCloseTimeout: '1 minute',
    retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds', maximumAttempts: 10 },
  });

/** What a session asks of memory before it begins; it does not wait long for it. */
export const memories = proxyActivities<Pick<Activities, 'loadRatings'>>({
  startToCloseTimeout: '10 seconds',
  scheduleToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '2 seconds', maximumAttempts: 3 },
});

type Memories = Pick<Activities, 'loadContext' | 'storeTrace' | 'mirrorTrace'>;
/** Memory: a debate without it goes on, so it is not tried for long. */
export const memoriesOn = (queue: Queue): ActivityInterfaceFor<Memories> =>
  proxyActivities<Memories>({
    ...on(queue),
    startToCloseTimeout: '1 minute',
    heartbeatTimeout: '10 seconds',
    retry: { initialInterval: '200 milliseconds', maximumInterval: '2 seconds', maximumAttempts: 4 },
  });

type CoordinatedRuns = Pick<Activities, 'startRun' | 'watchRun' | 'answerRun'>;
/** What a coordinator does to one run; each is safe to repeat. A run that no worker answers for is given up in the end. */
export const coordinatedRuns = proxyActivities<CoordinatedRuns>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds', maximumAttempts: 12 },
});

/** One attempt at a receiver ends itself within 15 s; it is made again when the worker died under it. */
export const webhookAttempts = proxyActivities<Pick<Activities, 'sendWebhook'>>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '5 seconds', maximumAttempts: 5 },
});
