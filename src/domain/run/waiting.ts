import type { Waiting } from '../../contracts/work.js';
import { whoCanApprove } from '../approval.js';
import { iso } from '../instant.js';
import { currentRecord, currentStep, openRequest, type RunState, stepName } from './state.js';

/** Why a run is not moving; null: it is over, or has not begun. `on` names what it waits for, once and for all. */
export const waitingFor = (run: RunState): { for: Waiting['for']; on: string } | null => {
  const open = openRequest(run);
  if (open) return { for: 'person', on: open.request.request_id };
  const { pending } = run;
  if (pending === null) return null;
  const isOther = pending.type === 'run_step' && currentStep(run).work.kind !== 'command';
  return { for: isOther ? 'lane' : 'worker', on: `effect ${pending.id}` };
};

/** The one record that says why a run is not moving (spec 08). */
export const describeWaiting = (run: RunState): Waiting | null => {
  const { waiting, pending } = run;
  const what = waitingFor(run);
  if (run.isClosing) {
    return {
      for: 'worker',
      since: iso(run.endedAt ?? run.startedAt),
      detail: 'what the run leaves is put in its place',
      who_can_unblock: 'an operator: the worker that has its folder has to be running',
    };
  }
  if (!waiting || !what) return null;
  const record = { for: what.for, since: iso(waiting.since) };
  const open = openRequest(run);
  if (open) {
    const { request_id: id, expires_at: until, type, options } = open.request;
    const answers = type === 'input' ? 'a text' : options.map(({ value }) => value).join(', ');
    const where = open.request.step === null ? 'before the first step' : `at ${stepName(currentStep(run))}`;
    const detail = `${type} ${id} ${where}: ${answers}${until === null ? '' : `, until ${until}`}`;
    const who = 'outcome' in open ? whoCanApprove(open) : 'whoever may answer for this tenant';
    return { ...record, detail, who_can_unblock: who };
  }
  if (pending?.type === 'prepare_workspace') {
    return {
      ...record,
      detail: 'the folder of the run is being prepared',
      who_can_unblock: 'an operator: a worker has to be running',
    };
  }
  const { work } = currentStep(run);
  const workId = currentRecord(run).attempts.at(-1)?.workId ?? null;
  const name = stepName(currentStep(run));
  return {
    ...record,
    detail:
      work.kind === 'command'
        ? `the command of ${name} runs`
        : `the ${work.kind} of ${name}${workId ? `, ${workId}` : ''}`,
    who_can_unblock:
      work.kind === 'command'
        ? 'the command, its time limit, or a cancel'
        : 'whatever that work waits for, or a cancel',
  };
};
