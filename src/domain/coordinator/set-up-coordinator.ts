import type { OpenCoordinator } from '../../contracts/coordinator.js';
import type { Json } from '../../contracts/frames.js';
import type { OpenRun } from '../../contracts/run.js';
import type { PathFault } from '../debate/set-up-debate.js';
import type { SetupIdentity } from '../session/set-up-session.js';
import { planRuns } from './runs.js';
import type { CoordinatorStart, PlannedRun, RunStart } from './state.js';

type Checked = { start: RunStart } | { faults: PathFault[] };

/** How the bodies of runs are set up: each as it would be by itself. */
export interface RunStartSetUp {
  /** One that was read. */
  own(body: OpenRun, id: string): Checked;
  /** One that is the same for many, as it was given. */
  shared(body: Record<string, Json>, of: { id: string; work_id: string; tenant: string }): Checked;
}

/** Most characters of an id. */
const maxIdLength = 128;

const under = (path: string, faults: readonly PathFault[]): PathFault[] =>
  faults.map((fault) => ({ ...fault, path: fault.path === '' ? path : `${path}.${fault.path}` }));

/** Two bodies cannot start one run. */
const takenIds = (runs: readonly { id?: string | undefined }[]): PathFault[] =>
  runs.flatMap(({ id }, index) => {
    const first = runs.findIndex((other) => other.id === id);
    if (id === undefined || first === index) return [];
    return [{ path: `runs[${index}].id`, message: `is taken by runs[${first}]` }];
  });

/** Their tenant is that of the coordinator, which nobody need repeat. */
const foreignTenants = ({ runs, tenant }: OpenCoordinator): PathFault[] =>
  runs.flatMap((run, index) =>
    run.tenant === 'default' || run.tenant === tenant
      ? []
      : [{ path: `runs[${index}].tenant`, message: `must be left out, or be that of the coordinator: ${tenant}` }],
  );

/**
 * Everything about a coordinator that depends on the operator's configuration, decided for all its runs before one is
 * started (spec 00): each fault is named by its path in the request.
 */
export const setUpCoordinator = (
  request: OpenCoordinator,
  { id, traceId, webUiUrl }: SetupIdentity,
  setUp: RunStartSetUp,
): { setup: CoordinatorStart } | { faults: PathFault[] } => {
  const { tenant, labels, runs: bodies, run: body, wait_timeout_ms: waitTimeoutMs } = request;
  const runs = planRuns(id, request);
  const faults = [...takenIds(bodies), ...foreignTenants(request)];
  const longest = runs.find(({ runId }) => runId.length > maxIdLength);
  if (longest) {
    const message = `is too long for its runs: ${longest.runId} must have at most ${maxIdLength} characters`;
    return { faults: [...faults, { path: 'id', message }] };
  }
  const kept = (path: string, checked: Checked): RunStart[] => {
    if ('start' in checked) return [checked.start];
    faults.push(...under(path, checked.faults));
    return [];
  };
  const starts = bodies.flatMap((own, index) => {
    const planned = runs.find((run: PlannedRun) => run.body === index);
    return kept(`runs[${index}]`, setUp.own({ ...own, tenant }, planned?.runId ?? own.id ?? id));
  });
  // The one with the longest id stands for all: what is not too long for it is so for none.
  const listed = runs.findLast((run) => run.origin === 'started' && run.body === null);
  const shared =
    listed && body
      ? (kept('run', setUp.shared(body, { id: listed.runId, work_id: listed.workId, tenant }))[0] ?? null)
      : null;
  if (faults.length > 0) return { faults };
  return { setup: { id, tenant, labels, traceId, webUiUrl, runs, waitTimeoutMs, bodies: starts, shared } };
};
