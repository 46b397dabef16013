import type { Json } from '../../contracts/frames.js';
import type { RunSetup, StepWork } from '../run/setup.js';
import { stepWorkId } from '../run/set-up-run.js';
import type { CoordinatorStart, PlannedRun, RunStart } from './state.js';

/** A link that ends in the one id ends in the other; ids stand in a URL as they are. */
const relinked = (url: string, from: string, to: string): string =>
  url.endsWith(from) ? `${url.slice(0, -from.length)}${to}` : url;

const stepFor = (work: StepWork, id: string): StepWork => {
  if (work.kind === 'gate' || work.kind === 'command') return work;
  const identity = { id, webUiUrl: relinked(work.setup.webUiUrl, work.setup.id, id) };
  switch (work.kind) {
    case 'session':
      return { ...work, setup: { ...work.setup, ...identity } };
    case 'debate':
      return { ...work, setup: { ...work.setup, ...identity } };
    case 'fan-out':
      return { ...work, setup: { ...work.setup, ...identity } };
    case 'team':
      return { ...work, setup: { ...work.setup, ...identity } };
    case 'refinement':
      return { ...work, setup: { ...work.setup, ...identity } };
  }
};

/** The setup of one run as that of another: nothing but its name, and what was made of it, differs. */
const setupFor = (shared: RunSetup, { runId, workId }: PlannedRun): RunSetup => {
  const { id, workspace } = shared;
  const isOwnBranch = workspace.from === 'repo' && workspace.branch === `parley/${id}`;
  return {
    ...shared,
    id: runId,
    workId,
    webUiUrl: relinked(shared.webUiUrl, id, runId),
    workspace: isOwnBranch ? { ...workspace, branch: `parley/${runId}` } : workspace,
    steps: shared.steps.map((step) => ({
      ...step,
      work: stepFor(step.work, stepWorkId(runId, step.phase, step.name)),
    })),
    ...(shared.webhooks && {
      webhooks: shared.webhooks.map((webhook) => ({ ...webhook, source: relinked(webhook.source, id, runId) })),
    }),
  };
};

const requestFor = (request: Json, { runId: id, workId: work_id }: PlannedRun): Json =>
  typeof request === 'object' && request !== null && !Array.isArray(request) ? { ...request, id, work_id } : request;

/** What a run is started with; null: it is there already. */
export const startOf = (start: CoordinatorStart, run: PlannedRun): RunStart | null => {
  if (run.origin === 'adopted') return null;
  const own = run.body === null ? null : (start.bodies[run.body] ?? null);
  const { shared, id: coordinatorId } = start;
  if (own) return { ...own, setup: { ...own.setup, coordinatorId } };
  if (!shared) throw new RangeError(`coordinator ${coordinatorId} has no body for the run ${run.runId}`);
  return {
    setup: { ...setupFor(shared.setup, run), coordinatorId },
    request: requestFor(shared.request, run),
    hash: `${shared.hash}.${run.workId}`,
  };
};
