import { z } from 'zod';
import type { Json } from '../../contracts/frames.js';
import {
  coordinatorAnswerSchema,
  coordinatorResponsesSchema,
  coordinatorStartedSchema,
  type CoordinatorResponse,
  openCoordinatorSchema,
} from '../../contracts/coordinator.js';
import {
  coordinatorReportSchema,
  coordinatorReportsSchema,
  coordinatorStatusSchema,
} from '../../contracts/coordinator-status.js';
import { feedbackBodySchema } from '../../contracts/feedback.js';
import { type OpenRun, openRunSchema } from '../../contracts/run.js';
import { reportsOf, reportsPage } from '../../domain/coordinator/reports.js';
import { setUpCoordinator, type RunStartSetUp } from '../../domain/coordinator/set-up-coordinator.js';
import { ParleyError } from '../../domain/errors.js';
import type { Fault } from '../../faults.js';
import { linksOf } from '../../links.js';
import { parseWhole } from '../../parse.js';
import { setUpWebhooks } from '../../webhook-targets.js';
import { acceptsMarkdown } from '../accepts-markdown.js';
import { bodyHash } from '../canonical.js';
import { invalidRequest, ProblemError } from '../problem.js';
import { type AnyRoute, type Call, type FaultsInside, type Ports, route } from '../route.js';
import {
  coordinatorAnswerExample,
  coordinatorReportExample,
  coordinatorReportsExample,
  coordinatorStartedExample,
  coordinatorStatusExample,
  openCoordinatorExample,
  promptExample,
} from './coordinator-examples.js';
import { idempotencyKey, knownId, problemsOfBody } from '../request-parts.js';
import { feedbackRoute } from './feedback-route.js';
import { runFaultsInside } from './run-faults.js';
import { runSetUp } from './run-steps.js';
import { workRoutes } from './work-routes.js';

/** The runs of a coordinator set up as POST /v1/runs would. */
const startSetUp = (ports: Ports, call: Call): RunStartSetUp => {
  const own = (body: OpenRun, id: string): ReturnType<RunStartSetUp['own']> => {
    const { self, web_ui: webUiUrl } = linksOf(ports.config, 'run', id);
    const policy = { ...ports.config.webhooks, isLocal: ports.access.isOpen() };
    const { webhooks, faults } = setUpWebhooks(body.webhooks, self, policy);
    const set = runSetUp(body, { id, traceId: ports.newTraceId(), webUiUrl }, ports, call);
    if ('faults' in set || faults.length > 0) return { faults: [...('faults' in set ? set.faults : []), ...faults] };
    const request = JSON.parse(JSON.stringify({ ...body, id })) as Json;
    const setup = webhooks.length === 0 ? set.setup : { ...set.setup, webhooks };
    return { start: { setup, request, hash: bodyHash(body) } };
  };
  return {
    own,
    shared: (body, of) => {
      const read = parseWhole(openRunSchema, { ...body, ...of });
      return read.ok ? own(read.value, of.id) : { faults: read.faults };
    },
  };
};

/** The bodies of runs in one that may have faults anywhere. */
const coordinatedBodies = z
  .object({ runs: z.array(z.unknown()).catch([]), run: z.unknown() })
  .catch({ runs: [], run: undefined });

/** What is wrong inside of its runs, of a body that has other faults. */
const faultsInside: FaultsInside = (body, ports, call) => {
  const { runs, run } = coordinatedBodies.parse(body);
  const within = (path: string, definition: unknown): Fault[] =>
    runFaultsInside(definition, ports, call).map((fault) => ({ ...fault, path: `${path}.${fault.path}` }));
  return [...runs.flatMap((each, index) => within(`runs[${index}]`, each)), ...within('run', run)];
};

const common = workRoutes({
  kind: 'coordinator',
  port: ({ coordinators }) => coordinators,
  body: openCoordinatorSchema,
  bodyExample: openCoordinatorExample,
  status: coordinatorStatusSchema,
  statusExample: coordinatorStatusExample,
  started: coordinatorStartedSchema,
  startedExample: coordinatorStartedExample,
  setUp: (body, identity, ports, call) => {
    const setUp = setUpCoordinator(body, identity, startSetUp(ports, call));
    if ('faults' in setUp) throw invalidRequest(setUp.faults);
    return setUp.setup;
  },
  faultsInside,
  answer: (started) => ({ ...started, kind: 'coordinator' }),
  fork: () => {
    throw new ParleyError(
      'wrong_state',
      'A coordinator cannot be forked: its runs are there once, and one report asks about them. Start another that adopts them.',
    );
  },
  restoreFault: () =>
    'a coordinator cannot go back: its runs have gone on. Restore a run, which tells its coordinator; or cancel this one and start another that adopts its runs',
  spanAttributes: ({ runs }) => ({ runs: runs.length }),
  feedback: ({ coordinators }) => ({
    port: coordinators,
    openRequest: ({ feedback }) => feedback.find(({ state }) => state === 'open')?.request ?? null,
  }),
  cancelDescription:
    'Ends it, and cancels the runs that it has started; those that it has adopted go on. Answers with the status, as a rule the final one.',
  whyNoPause:
    'a coordinator waits by itself until its runs are at a stop and people have answered. It can be cancelled.',
});

const params = {
  id: z.string().meta({ description: 'Id of the coordinator.', example: coordinatorStartedExample.id }),
};
const owner = async ({ id }: { id: string }, { coordinators }: Ports) => ({
  tenant: (await coordinators.status(knownId('coordinator', id))).tenant,
  what: `coordinator ${id}`,
});
const shared = { tag: 'coordinators', access: 'api_key', owner } as const;

const responsesBody = coordinatorResponsesSchema.transform((list): string | CoordinatorResponse[] => list);
const responsesText = z
  .string()
  .refine((text) => text.trim() !== '', 'must hold one answer in a line, such as "#124: approve"; got nothing')
  .transform((text): string | CoordinatorResponse[] => text);

const respond = route({
  ...shared,
  method: 'post',
  path: '/v1/coordinators/{id}/responses',
  summary: 'Answer what the runs of a coordinator ask',
  description:
    'Lines of text such as `#124: approve`, or a JSON list, which also names runs whose work ids are no numbers. Each answer counts ' +
    'for itself, once: `errors` names those that changed nothing, with what would have been accepted, and `reprompt` asks them ' +
    'again. Runs that are left out stay as they are. An answer that its run refuses makes no new report. With API keys the name ' +
    'of the key answers. With `as_of` an answer counts only for what that report had asked; one for what was asked since is an ' +
    'error, with the number of the report to read. Without it, and without a request_id, what this person answered last, said ' +
    'again, counts as that answer once more, and not for what was asked since: a warning says so. With an Idempotency-Key the ' +
    'whole call counts once.',
  params: z.strictObject(params),
  query: z.strictObject({
    provided_by: feedbackBodySchema.shape.provided_by,
    as_of: z
      .string()
      .regex(/^[1-9]\d{0,5}$/, 'must be the number of a report, from 1')
      .optional()
      .meta({ description: 'Number of the report that was read.', example: '2' }),
  }),
  headers: z.object({
    'idempotency-key': idempotencyKey('Names the call: sent again, it is answered as before and changes nothing.'),
    'parley-client': z
      .enum(['cli', 'page'])
      .optional()
      .meta({ description: 'Sent by Parley’s own CLI and page; recorded as the source of the answers.' }),
  }),
  body: responsesBody,
  bodyExample: [{ work_id: '124', response: 'request_changes', comment: 'Split the module.' }],
  textBody: { schema: responsesText, example: '#124: approve\n#125: retry\n#126: abort\n' },
  responses: {
    200: { description: 'What became of each.', schema: coordinatorAnswerSchema, example: coordinatorAnswerExample },
  },
  problems: [...problemsOfBody, 'forbidden', 'not_found', 'wrong_state'],
  needs: 'approve',
  handle: async ({ params: { id }, query, headers, body }, { coordinators }, { caller }) => {
    const { authenticated, name } = caller;
    const answer = await coordinators.respond(knownId('coordinator', id), {
      responses: body,
      providedBy: authenticated ? name : (query.provided_by ?? name),
      authenticated,
      source: headers['parley-client'] ?? 'http',
      asOf: query.as_of === undefined ? null : Number(query.as_of),
      key: headers['idempotency-key'] ?? null,
    });
    return { status: 200, body: answer };
  },
});

const reading = {
  ...shared,
  method: 'get',
  query: z.strictObject({}),
  headers: z.object({ accept: z.string().optional() }),
  body: null,
  problems: ['unauthorized', 'not_found', 'unavailable'],
} as const;

const listReports = route({
  ...reading,
  path: '/v1/coordinators/{id}/aggregations',
  summary: 'List the reports of a coordinator',
  description: 'By their counts, the latest last; as JSON, or as markdown where `Accept` asks for `text/markdown`.',
  params: z.strictObject(params),
  responses: {
    200: {
      description: 'Every report.',
      schema: coordinatorReportsSchema,
      example: coordinatorReportsExample,
      markdown: reportsPage(coordinatorReportsExample),
    },
  },
  handle: async ({ params: { id }, headers }, { coordinators }) => {
    const reports = reportsOf(await coordinators.status(knownId('coordinator', id)));
    return acceptsMarkdown(headers.accept)
      ? { status: 200, markdown: reportsPage(reports) }
      : { status: 200, body: reports, headers: { Vary: 'Accept' } };
  },
});

const showReport = route({
  ...reading,
  path: '/v1/coordinators/{id}/aggregations/{number}',
  summary: 'Show one report of a coordinator',
  description:
    'Every run as it stood then, what it asked, and what each answer would do; as JSON, or as the markdown prompt where `Accept` ' +
    'asks for `text/markdown`. The event `aggregation` tells of a report the counts and those runs that are not as the report ' +
    'before, its `since`, had them; where `since` is null, it tells all runs.',
  params: z.strictObject({
    ...params,
    number: z.string().meta({ description: 'From 1, or `latest`.', example: 'latest' }),
  }),
  responses: {
    200: {
      description: 'The report.',
      schema: coordinatorReportSchema,
      example: coordinatorReportExample,
      markdown: promptExample,
    },
  },
  handle: async ({ params: { id, number }, headers }, { coordinators }) => {
    const { reports } = await coordinators.status(knownId('coordinator', id));
    const wanted = number === 'latest' ? reports.length : /^\d{1,6}$/.test(number) ? Number(number) : 0;
    const report = wanted > 0 && wanted <= reports.length ? await coordinators.report(id, wanted) : null;
    if (!report) {
      const there = reports.length === 0 ? 'it has none yet' : `it has 1 to ${reports.length}`;
      throw new ProblemError('not_found', `There is no report ${number.slice(0, 60)} of coordinator ${id}; ${there}.`);
    }
    return acceptsMarkdown(headers.accept)
      ? { status: 200, markdown: report.prompt }
      : { status: 200, body: report, headers: { Vary: 'Accept' } };
  },
});

export const coordinatorRoutes: readonly AnyRoute[] = [
  ...common,
  feedbackRoute('coordinator', coordinatorStartedExample.id, ({ coordinators }) => coordinators),
  respond,
  listReports,
  showReport,
];
