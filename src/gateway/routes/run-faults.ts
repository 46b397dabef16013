import { z } from 'zod';
import { gateSchema, type OpenRun, runStepSchema } from '../../contracts/run.js';
import type { Fault } from '../../faults.js';
import type { Call, Ports } from '../route.js';
import { runSetUp } from './run-steps.js';

const { kind, with: body } = runStepSchema.shape;
/** As much of a step as can be read; of a kind that is none, and of a body that is none, nothing is said here. */
const readableStep = z
  .object({ kind: kind.catch('gate'), with: body.nullable().catch(null), gate: gateSchema.optional().catch(undefined) })
  .nullable()
  .catch(null);
const readableRun = z
  .object({ phases: z.array(z.object({ steps: z.array(readableStep) }).catch({ steps: [] })) })
  .catch({ phases: [] });

/**
 * What is wrong in `with` and at the gates of the steps of a definition that has other faults, so that all are named at once
 * (spec 00): each step as far as it can be read, by its place in the definition.
 */
export const runFaultsInside = (definition: unknown, ports: Ports, call: Pick<Call, 'caller'>): Fault[] => {
  const readable = readableRun
    .parse(definition)
    .phases.flatMap(({ steps }, phase) =>
      steps.flatMap((step, index) => (step ? [{ step, at: `phases[${phase}].steps[${index}]` }] : [])),
    );
  // A definition of these steps alone, by names that clash with none.
  const steps = readable.map(({ step }, index) => ({
    name: `step-${index}`,
    kind: step.with === null ? ('gate' as const) : step.kind,
    with: step.with ?? {},
    on_error: 'fail' as const,
    gate: step.gate,
  }));
  const run: OpenRun = {
    tenant: 'default',
    labels: {},
    budget: {},
    webhooks: [],
    work_id: 'run',
    phases: [{ name: 'all', steps }],
  };
  const setUp = runSetUp(run, { id: 'run', traceId: '0'.repeat(32), webUiUrl: '' }, ports, call);
  if (!('faults' in setUp)) return [];
  return setUp.faults.map(({ path, message }) => ({
    path: path.replace(/^phases\[0\]\.steps\[(\d+)\]/, (_, index) => readable[Number(index)]?.at ?? ''),
    message,
  }));
};
