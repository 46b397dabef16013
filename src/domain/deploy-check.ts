import type { CheckpointDifference } from './export/checkpoints.js';
import type { ReplayReport } from './export/report.js';

/** What becomes of one piece of work with another build. */
export interface Verdict {
  /** The file, or the id of the piece of work. */
  source: string;
  /** `breaks`: its worker would try the task in vain; `decides`: it goes on, but otherwise; `unread`: it could not be looked at. */
  verdict: 'same' | 'breaks' | 'decides' | 'unread';
  kind: string | null;
  id: string | null;
  event_id: number | null;
  event: string | null;
  why: string | null;
}

const fieldText = ({ sequence_num, agent_id, passed, fields }: CheckpointDifference): string => {
  const name = `CP-${sequence_num} (${agent_id})`;
  if (passed !== 'both') return `${name} was ${passed}`;
  const [first] = fields;
  const more = fields.length > 1 ? ` and ${fields.length - 1} more` : '';
  const short = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 80);
  return first === undefined ? name : `${name}: ${first.at} was ${short(first.from)}, is ${short(first.to)}${more}`;
};

/** A replay's report as a verdict on the build. */
export const verdictOf = (source: string, report: ReplayReport): Verdict => {
  const { kind, id, refusal, checkpoints, outcome } = report;
  const about = { source, kind, id };
  if (refusal !== null) {
    const { event_id, event, reason } = refusal;
    return { ...about, verdict: 'breaks', event_id, event, why: reason };
  }
  const [first] = checkpoints;
  if (first !== undefined)
    return { ...about, verdict: 'decides', event_id: first.event_id, event: 'checkpoint', why: fieldText(first) };
  const [ended] = outcome;
  if (ended === undefined) return { ...about, verdict: 'same', event_id: null, event: null, why: null };
  const why = `the outcome differs at ${ended.at || 'its root'}`;
  return { ...about, verdict: 'decides', event_id: report.events, event: 'the end', why };
};

export const unread = (source: string, why: string): Verdict => ({
  source,
  verdict: 'unread',
  kind: null,
  id: null,
  event_id: null,
  event: null,
  why,
});

/** The verdicts as a person reads them; what stays as it was is counted alone. */
export const verdictLines = (verdicts: readonly Verdict[]): string[] => {
  const of = (verdict: Verdict['verdict']): Verdict[] => verdicts.filter((each) => each.verdict === verdict);
  const [same, breaks, decides, missing] = [of('same'), of('breaks'), of('decides'), of('unread')];
  const clean = breaks.length + decides.length + missing.length === 0;
  const name = ({ source, kind, id }: Verdict): string =>
    id === null || id === source ? source : `${source} (${kind} ${id})`;
  return [
    `${clean ? 'ok' : 'not ok'}: ${verdicts.length - missing.length} replayed, ${same.length} go on as before, ${breaks.length} would break, ${decides.length} would decide otherwise${missing.length > 0 ? `, ${missing.length} not read` : ''}`,
    ...breaks.flatMap((each) => [
      `  breaks    ${name(each)} at event ${each.event_id}, ${each.event}`,
      `            ${each.why}`,
    ]),
    ...decides.flatMap((each) => [`  decides   ${name(each)} at event ${each.event_id}`, `            ${each.why}`]),
    ...missing.map((each) => `  not read  ${name(each)}: ${each.why}`),
    ...(breaks.length > 0
      ? [
          'Let what runs end with the build that started it (PARLEY_DEPLOYMENT, PARLEY_BUILD_ID), or keep its way with patched().',
        ]
      : []),
  ];
};
