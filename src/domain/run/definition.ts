import type { GateBody, RunStepBody, RunWorkspaceBody } from '../../contracts/run.js';
import { approvalFaults } from '../approval.js';
import { sameWord } from '../feedback.js';
import { approvalOnly, gateFields, gateSetup, gateTerms } from './gate-terms.js';

/** Names of phases that a definition leaves out, by position (spec 06 "phases"). */
export const presetPhases = ['frame', 'architect', 'build', 'evaluate', 'release'] as const;

/** What an approval can be answered with; everything else is a choice. */
const approvalValues = ['approve', 'request_changes', 'reject'] as const;

interface Definition {
  workspace?: RunWorkspaceBody | undefined;
  phases: readonly { name?: string | undefined; steps: readonly RunStepBody[] }[];
}

export interface DefinitionFault {
  path: (string | number)[];
  message: string;
}

/** The names of the phases, given or by position; null: a sixth phase and later ones need a name of their own. */
export const phaseNames = (phases: readonly { name?: string | undefined }[]): (string | null)[] =>
  phases.map(({ name }, index) => name ?? presetPhases[index] ?? null);

/** The phases with their names also where these are the preset ones, by which a fork and its origin are told to have the same. */
export const namedPhases = <Phase extends { name?: string | undefined }>(phases: readonly Phase[]): Phase[] => {
  const names = phaseNames(phases);
  return phases.map((phase, index) => ({ ...phase, name: names[index] ?? phase.name }));
};

const quoted = (text: string): string => JSON.stringify(text);
const valueOf = (option: NonNullable<GateBody['options']>[number]): string =>
  typeof option === 'string' ? option : option.value;
const known = (values: readonly string[], value: string): boolean => values.some((one) => sameWord(one, value));

const gateFaults = (gate: GateBody, canRedo: boolean): DefinitionFault[] => {
  const { type, on_timeout: onTimeout, timeout_ms: timeoutMs } = gate;
  const faults: DefinitionFault[] = [];
  const fault = (path: (string | number)[], message: string): void => void faults.push({ path, message });
  const values = gate.options?.map(valueOf) ?? null;
  values?.forEach((value, index) => {
    const first = values.findIndex((other) => sameWord(other, value));
    if (first < index) fault(['options', index], `${quoted(value)} is taken by [${first}]; case is ignored`);
    if (type === 'approval' && !known(approvalValues, value))
      fault(
        ['options', index],
        `must be approve, request_changes or reject; a gate of type choice has options of its own; got ${quoted(value)}`,
      );
    if (type === 'approval' && sameWord(value, 'request_changes') && !canRedo)
      fault(['options', index], 'cannot be request_changes: no step comes before this gate that could be done again');
  });
  if (type === 'approval') {
    for (const { field, message } of approvalFaults(gateTerms(gateSetup(gate), null, false)))
      fault([gateFields[field]], message);
  } else {
    for (const field of approvalOnly)
      if (gate[field] !== undefined) fault([field], 'must be left out: only an approval has it');
  }
  if (type === 'approval' && values !== null && values.length > 0 && !known(values, 'approve'))
    fault(['options'], 'must offer approve, or the run could never go on');
  if (type === 'choice' && values === null) fault(['options'], 'must be listed, such as ["left","right"]');
  if (type === 'input' && values !== null) fault(['options'], 'must be left out: an input is free text');
  if (onTimeout !== undefined && timeoutMs === undefined)
    fault(['on_timeout'], 'needs timeout_ms: say after how many milliseconds');
  if (timeoutMs !== undefined && onTimeout === undefined && type !== 'approval')
    fault(['on_timeout'], 'is missing: say what a timeout counts as');
  if (onTimeout === undefined) return faults;
  if (type === 'approval' && sameWord(onTimeout, 'approve'))
    fault(['on_timeout'], 'cannot be approve: what nobody has looked at is not approved; it must be reject');
  else if (type === 'approval' && !sameWord(onTimeout, 'reject'))
    fault(['on_timeout'], `must be reject; got ${quoted(onTimeout)}`);
  if (type === 'choice' && values !== null && !known(values, onTimeout))
    fault(['on_timeout'], `must be ${values.join(', ')}; got ${quoted(onTimeout)}`);
  return faults;
};

/** What a definition contradicts itself in, by path; none: it can be set up (spec 06). */
export const definitionFaults = ({ workspace, phases }: Definition): DefinitionFault[] => {
  const faults: DefinitionFault[] = [];
  const fault = (path: (string | number)[], message: string): void => void faults.push({ path, message });
  if (workspace) {
    const { path, repo, branch } = workspace;
    if ((path === undefined) === (repo === undefined))
      fault(['workspace'], 'must have either path, to work in a copy, or repo, to work in a worktree');
    if (branch !== undefined && repo === undefined)
      fault(['workspace', 'branch'], 'needs repo: a copy of a folder has no branch');
  }
  const names = phaseNames(phases);
  let canRedo = false;
  phases.forEach(({ steps }, phase) => {
    const name = names[phase];
    if (name === null)
      fault(['phases', phase, 'name'], `is missing: only the first ${presetPhases.length} phases have preset names`);
    const same = names.findIndex((other) => other !== null && other === name);
    if (name !== null && same < phase) fault(['phases', phase, 'name'], `${quoted(name!)} is taken by phases[${same}]`);
    steps.forEach((step, index) => {
      const at = (...path: (string | number)[]): (string | number)[] => ['phases', phase, 'steps', index, ...path];
      const first = steps.findIndex((other) => other.name === step.name);
      if (first < index) fault(at('name'), `${quoted(step.name)} is taken by steps[${first}] of the same phase`);
      if (step.kind === 'gate') {
        if (!step.gate) fault(at('gate'), 'is missing: a gate step has to say what it asks');
        if (Object.keys(step.with).length > 0) fault(at('with'), 'must be left out: a gate step only asks');
        if (step.on_error === 'ask')
          fault(at('on_error'), 'must be left out: a gate step does nothing that could fail');
      } else canRedo = true;
      if (step.gate)
        faults.push(...gateFaults(step.gate, canRedo).map((of) => ({ ...of, path: at('gate', ...of.path) })));
    });
  });
  return faults;
};
