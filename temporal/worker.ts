import { Worker, type InjectedSinks, type NativeConnection } from '@temporalio/worker';
import type { DataConverter } from '@temporalio/common';
import type { Sinks } from '@temporalio/workflow';
import type { Config } from '../src/config.js';
import { workerIdentity } from './identity.js';

export interface ParleyWorkerOptions<S extends Sinks = Sinks> {
  connection: NativeConnection;
  namespace: string;
  taskQueue: string;
  activities: object;
  /** The bundle that `build.js` writes; null: it runs activities alone. */
  bundlePath: string | null;
  /** Default: host, process and boot, which lets a later worker see that this one died. */
  identity?: string;
  sinks?: InjectedSinks<S>;
  dataConverter?: DataConverter;
  /** Which version of which deployment it is; null: it is none, and takes work of any. */
  deployment?: Config['deployment'];
  /** How long running activities may go on after `shutdown()`. */
  shutdownGraceMs?: number | undefined;
}

/**
 * Workflows kept in memory. Parked ones cost about 0.15 MB each, busy ones with long transcripts several times that, so
 * 1,000 stay within a machine of 2 GB.
 */
const cachedWorkflows = 1_000;

/** Work stays with the version that began it, however long it runs (spec 08 "Deploy gate"). */
const versionOf = ({ name, buildId }: NonNullable<Config['deployment']>) => ({
  version: { deploymentName: name, buildId },
  useWorkerVersioning: true as const,
  defaultVersioningBehavior: 'PINNED' as const,
});

/**
 * A worker with the settings that measured best: pollers that follow the load, one V8 context for all workflows, and a
 * few seconds, not ten, before the tasks of a dead worker go to another one. (Workflow tasks time out after 2 s; whoever starts
 * a workflow sets that.)
 */
export async function createParleyWorker<S extends Sinks = Sinks>(options: ParleyWorkerOptions<S>): Promise<Worker> {
  const { connection, namespace, taskQueue, activities, bundlePath, identity = workerIdentity() } = options;
  const { sinks, dataConverter, deployment = null } = options;
  return await Worker.create({
    connection,
    namespace,
    taskQueue,
    activities,
    identity,
    ...(bundlePath === null ? {} : { workflowBundle: { codePath: bundlePath } }),
    ...(sinks === undefined ? {} : { sinks }),
    ...(dataConverter === undefined ? {} : { dataConverter }),
    ...(deployment === null ? {} : { workerDeploymentOptions: versionOf(deployment) }),
    reuseV8Context: true,
    workflowTaskPollerBehavior: { type: 'autoscaling' },
    activityTaskPollerBehavior: { type: 'autoscaling' },
    // A burst of answers waits for a moment: a task that is given up sooner is replayed by whoever gets it, which makes the
    // burst worse.
    stickyQueueScheduleToStartTimeout: '5s',
    // What is taken has 2 s to be done, or is done again from the beginning; what is not yet taken may wait. All of it runs in
    // one thread: of 16 at a time one in twelve was too late where a machine was busy, of 6 none.
    maxConcurrentWorkflowTaskExecutions: 8,
    maxCachedWorkflows: cachedWorkflows,
    // Lanes spend their time waiting for models; 100, the default, would hold back a session's lanes behind other sessions'.
    maxConcurrentActivityTaskExecutions: 500,
    // A beat carries what a retry skips and brings back a cancel: it is held back no longer than this.
    maxHeartbeatThrottleInterval: '10s',
    shutdownGraceTime: options.shutdownGraceMs ?? 10_000,
  });
}
