import type { z } from 'zod';
import { openDebateSchema } from '../../contracts/debate.js';
import { openFanOutSchema } from '../../contracts/fan-out.js';
import type { Json } from '../../contracts/frames.js';
import { openRefinementSchema } from '../../contracts/refinement.js';
import { commandStepSchema, type OpenRun } from '../../contracts/run.js';
import { openTeamSchema } from '../../contracts/team.js';
import { openSessionSchema } from '../../contracts/session.js';
import { setUpDebate, type DebateIdentity, type PathFault } from '../../domain/debate/set-up-debate.js';
import { setUpFanOut } from '../../domain/fan-out/set-up-fan-out.js';
import { setUpRefinement } from '../../domain/refinement/set-up-refinement.js';
import { setUpRun, type StepSetUp } from '../../domain/run/set-up-run.js';
import type { RunSetup, StartedWork } from '../../domain/run/setup.js';
import { setUpTeam } from '../../domain/team/set-up-team.js';
import { setUpSession, type SetupIdentity } from '../../domain/session/set-up-session.js';
import { webUiUrl } from '../../links.js';
import { parseWhole } from '../../parse.js';
import { bodyHash } from '../canonical.js';
import { teamOperator } from '../team-operator.js';
import type { Call, Ports } from '../route.js';

type Checked<T> = { ok: T } | { faults: PathFault[] };

const read = <T>(schema: z.ZodType<T, unknown>, body: unknown): Checked<T> => {
  const parsed = parseWhole(schema, body);
  return parsed.ok ? { ok: parsed.value } : { faults: parsed.faults };
};

const firstWords = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 100);

/** The steps of a run read and set up as the same body would be by itself (spec 06). */
const stepSetUp = (
  { operator, config }: Ports,
  { startedBy, requiresAuthentication }: Pick<DebateIdentity, 'startedBy' | 'requiresAuthentication'>,
): StepSetUp => ({
  command: (body) => {
    const checked = read(commandStepSchema, body);
    return 'faults' in checked ? checked : { command: checked.ok };
  },
  started: (kind, body, { id, traceId }) => {
    const identity = { id, traceId, webUiUrl: webUiUrl(config, id) };
    const work = <B extends { id?: string | undefined }>(
      schema: z.ZodType<B, unknown>,
      setUp: (request: B) => { setup: unknown } | { faults: PathFault[] },
      summaryOf: (request: B) => string,
      whole: Record<string, unknown> = body,
    ): { work: StartedWork } | { faults: PathFault[] } => {
      const checked = read(schema, whole);
      if ('faults' in checked) return checked;
      const set = setUp(checked.ok);
      if ('faults' in set) return set;
      const request = JSON.parse(JSON.stringify(checked.ok)) as Json;
      const summary = `${kind}: ${firstWords(summaryOf(checked.ok))}`;
      // The setup is that of the kind: both come from the same case below.
      return { work: { kind, setup: set.setup, request, bodyHash: bodyHash(checked.ok), summary } as StartedWork };
    };
    switch (kind) {
      case 'session':
        return work(
          openSessionSchema,
          (request) => {
            const isOutside = ({ adapter }: { adapter: { kind: string } }): boolean => adapter.kind === 'external';
            const outside = request.lanes.flatMap((lane, index) =>
              isOutside(lane)
                ? [{ path: `lanes[${index}].adapter.kind`, message: 'cannot be external: nobody is handed its key' }]
                : [],
            );
            return outside.length > 0 ? { faults: outside } : { setup: setUpSession(request, identity, operator) };
          },
          ({ prompt }) => prompt,
        );
      case 'debate': {
        // The path is that of the run, which is known when the step begins.
        if ('workspace' in body) {
          return {
            faults: [{ path: 'workspace', message: 'must be left out: a debate of a run works in its folder' }],
          };
        }
        return work(
          openDebateSchema,
          (request) => setUpDebate(request, { ...identity, startedBy, requiresAuthentication }, operator),
          ({ task }) => task,
          { ...body, workspace: { path: '/' } },
        );
      }
      case 'refinement':
        return work(
          openRefinementSchema,
          (request) => setUpRefinement(request, identity, operator),
          ({ task }) => task,
        );
      case 'team': {
        const faults: PathFault[] = [
          ...('workspace' in body
            ? [{ path: 'workspace', message: 'must be left out: the agents of a run work in its folder' }]
            : []),
          ...(body['keep_open'] === true
            ? [{ path: 'keep_open', message: 'must be left out: a step ends when its agents have' }]
            : []),
        ];
        if (faults.length > 0) return { faults };
        return work(
          openTeamSchema,
          (request) =>
            setUpTeam(request, { ...identity, startedBy, requiresAuthentication }, teamOperator({ operator, config })),
          ({ agents }) => agents.map(({ agent_id: agentId }) => agentId).join(', '),
        );
      }
      case 'fan-out':
        return work(
          openFanOutSchema,
          (request) => setUpFanOut(request, identity, { ...operator, maxFanOut: config.maxFanOut }),
          ({ fan_out: { tasks } }) => tasks.map(({ task_id }) => task_id).join(', '),
        );
    }
  },
});

/** A run as its caller may start it, with everything that the operator's configuration decides. */
export const runSetUp = (
  body: OpenRun,
  identity: SetupIdentity,
  ports: Ports,
  { caller: { authenticated, name } }: Pick<Call, 'caller'>,
): { setup: RunSetup } | { faults: PathFault[] } => {
  const who = { startedBy: authenticated ? name : null, requiresAuthentication: authenticated };
  return setUpRun(body, { ...identity, ...who }, stepSetUp(ports, who));
};
