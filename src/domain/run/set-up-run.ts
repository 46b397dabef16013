import type { Json } from '../../contracts/frames.js';
import type { CommandStep, OpenRun, RunStepBody } from '../../contracts/run.js';
import { approvalFaults } from '../approval.js';
import type { DebateIdentity, PathFault } from '../debate/set-up-debate.js';
import { workLimits } from '../work-account.js';
import { phaseNames } from './definition.js';
import { gateFields, gateSetup, gateTerms } from './gate-terms.js';
import type { RunSetup, RunWorkspace, StartedKind, StartedWork, StepWork } from './setup.js';

type Body = Record<string, Json>;
type Checked<T> = T | { faults: PathFault[] };

/** How the bodies of steps are read and set up: each by the contract and the set-up of its own kind. */
export interface StepSetUp {
  started(kind: StartedKind, body: Body, identity: { id: string; traceId: string }): Checked<{ work: StartedWork }>;
  command(body: Body): Checked<{ command: CommandStep }>;
}

/** What an id may have beyond that of the run: its step, and the number of its try. */
const maxIdLength = 128;
const triesLength = '.999'.length;

/** The id of the work that a step starts; a second try has ".2" added (see `attemptId`). */
export const stepWorkId = (runId: string, phase: string, step: string): string => `${runId}.${phase}.${step}`;

const workspaceOf = ({ workspace }: OpenRun, id: string): RunWorkspace => {
  if (workspace?.repo !== undefined)
    return { from: 'repo', repo: workspace.repo, branch: workspace.branch ?? `parley/${id}` };
  return workspace?.path === undefined ? { from: 'nothing' } : { from: 'copy', path: workspace.path };
};

/** What only shows once it is known who starts the run: who may not approve it either. */
const gateFaultsOf = ({ gate }: RunStepBody, { startedBy, requiresAuthentication }: DebateIdentity): PathFault[] =>
  gate?.type === 'approval'
    ? approvalFaults(gateTerms(gateSetup(gate), startedBy, requiresAuthentication)).map(({ field, message }) => ({
        path: gateFields[field],
        message,
      }))
    : [];

const ownFields = ['id', 'workflow_id', 'tenant', 'webhooks'] as const;

/**
 * Everything about a run that depends on the operator's configuration, decided once for every step, so that a definition with
 * a fault in its last step starts nothing (spec 00): each fault is named by its path in the request.
 */
export const setUpRun = (
  request: OpenRun,
  identity: DebateIdentity,
  setUpStep: StepSetUp,
): { setup: RunSetup } | { faults: PathFault[] } => {
  const { id, traceId } = identity;
  const faults: PathFault[] = [];
  const names = phaseNames(request.phases);

  const workOf = ({ kind, name, with: body }: RunStepBody, phase: string, path: string): StepWork | null => {
    if (kind === 'gate') return { kind };
    const own = ownFields.filter((field) => Object.hasOwn(body, field));
    faults.push(
      ...own.map((field) => ({ path: `${path}.${field}`, message: 'must be left out: it is that of the run' })),
    );
    const within = (against: PathFault[]): null => {
      const others = against.filter((fault) => !own.some((field) => field === fault.path));
      faults.push(...others.map((fault) => ({ ...fault, path: joined(path, fault.path) })));
      return null;
    };
    if (kind === 'command') {
      const checked = setUpStep.command(body);
      if ('faults' in checked) return within(checked.faults);
      const { sandbox, ...task } = checked.command;
      return { kind, sandbox, task: { ...task, task_id: `${phase}.${name}`.slice(0, 64), depends_on: [] } };
    }
    const workId = stepWorkId(id, phase, name);
    if (workId.length + triesLength > maxIdLength) {
      faults.push({
        path: 'id',
        message: `is too long for the work of its steps: ${workId} with the number of a try must have at most ${maxIdLength} characters`,
      });
      return null;
    }
    const checked = setUpStep.started(kind, { ...body, tenant: request.tenant }, { id: workId, traceId });
    return 'faults' in checked ? within(checked.faults) : checked.work;
  };

  const steps = request.phases.flatMap((phase, at) =>
    phase.steps.flatMap((step, index) => {
      const phaseName = names[at] ?? '';
      const path = `phases[${at}].steps[${index}]`;
      faults.push(...gateFaultsOf(step, identity).map((fault) => ({ ...fault, path: `${path}.gate.${fault.path}` })));
      const work = workOf(step, phaseName, `${path}.with`);
      return work === null
        ? []
        : [
            {
              phase: phaseName,
              name: step.name,
              work,
              onError: step.on_error,
              gate: step.gate ? gateSetup(step.gate) : null,
            },
          ];
    }),
  );
  if (faults.length > 0) return { faults };
  return {
    setup: {
      id,
      tenant: request.tenant,
      labels: request.labels,
      traceId,
      webUiUrl: identity.webUiUrl,
      workId: request.work_id,
      workspace: workspaceOf(request, id),
      steps,
      budget: workLimits(request.budget),
      startedBy: identity.startedBy,
      requiresAuthentication: identity.requiresAuthentication,
    },
  };
};

/** `with` and `roles.critic` are `with.roles.critic`; `with` and `[0]` are `with[0]`; `with` and nothing is `with`. */
const joined = (path: string, within: string): string =>
  within === '' ? path : within.startsWith('[') ? `${path}${within}` : `${path}.${within}`;
