// What a person has seen of a debate so far, as plain data: its story from the events, its frame and its gate from the status.
import { appendText, emptyModel, emptyText, takeCommonEvent } from './model.js';

export const collection = 'debates';
export const lookEveryMs = 3_000;
const asking = new Set(['state', 'feedback_requested', 'feedback_received']);
/** Approvals, ratings and spend stand in the status alone; they change with these. */
export const asksForStatus = ({ event }) => asking.has(event);

export const createModel = () => ({
  ...emptyModel('IDLE'),
  /** States that were entered. */
  visited: new Set(),
  pass: 0,
  tags: [],
  /** In the order in which they were made. */
  statements: [],
  /** Text that streams, by lane id: "critic#2" is the critic in pass 2, "critic#diagnosis" after a failure. */
  lanes: new Map(),
  /** The plan that is judged: {tasks, fromPass}. */
  plan: null,
  /** The votes after each pass, with the consensus they make and what follows from it. */
  passes: [],
  duels: [],
  decision: null,
  /** Begun tasks: {task_id, round, report}, without a report while they run. */
  tasks: [],
  /** The latest that is known of each, by round from 1. */
  repairs: [],
  /** What the health check said after a failure. */
  checks: [],
  rollback: null,
  waiting: null,
});

export const takeStatus = (model, status) => {
  model.status = status;
  if (model.events.length > 0) return;
  // Until the stream has begun, the status says where it stands.
  model.state = status.state;
  model.pass = status.pass;
};

/**
 * What a status alone tells: how it was at a checkpoint.
 * @param visited states that it had been in by then
 */
export const modelAt = (status, visited) => {
  const { report } = status;
  const model = createModel();
  takeStatus(model, status);
  const begun = report?.tasks.filter(({ outcome }) => outcome !== 'not_run') ?? [];
  const rollback = report?.rollback ?? null;
  return Object.assign(model, {
    // Votes that are counted have no checkpoint of their own.
    visited: new Set([...visited, ...(status.votes.length > 0 ? ['CALCULATING_CONSENSUS'] : [])]),
    tags: status.tags,
    statements: status.statements,
    plan:
      status.plan_from_pass === null ? null : { tasks: inOrder(status.plan.tasks), fromPass: status.plan_from_pass },
    passes:
      status.votes.length === 0
        ? []
        : [{ pass: status.pass, consensus: status.consensus, votes: status.votes, why: '', next: 'decision' }],
    duels: status.duels,
    decision: status.result?.decision ? { decision: status.result.decision, why: status.result.reason } : null,
    tasks: begun.map((each) => ({ task_id: each.task_id, round: each.round, report: each })),
    repairs: status.repairs,
    checks: report?.checks ?? [],
    rollback: rollback && { stage: 'ended', report: rollback, why: 'what was done was taken back' },
    waiting: status.waiting,
    result: status.result,
    error: status.error,
  });
};

/** Takes text of a role that speaks; returns false when text before it is missing. */
export const takePartial = (model, partial) => {
  const { lanes } = model;
  if (!lanes.has(partial.lane_id)) lanes.set(partial.lane_id, emptyText());
  return appendText(lanes.get(partial.lane_id), partial);
};

const takeTask = (model, { stage, task_id, round, report }) => {
  if (stage === 'started') model.tasks.push({ task_id, round, report: null });
  else {
    const begun = model.tasks.find((task) => task.task_id === report.task_id && task.round === report.round);
    if (begun) begun.report = report;
    else model.tasks.push({ task_id: report.task_id, round: report.round, report });
  }
};

const takeRepair = (model, repair) => {
  model.repairs = [...model.repairs.filter(({ round }) => round !== repair.round), repair];
  for (const lane of model.lanes.keys()) if (/#(diagnosis|repair)/.test(lane)) model.lanes.delete(lane);
};

export const takeEvent = (model, event) => {
  takeCommonEvent(model, event);
  const { data } = event;
  switch (event.event) {
    case 'state':
      // The event has the pass from which it leads away.
      model.pass = data.to === 'ROUND_SOLUTION' && data.from !== 'ROUND_ANALYST' ? data.pass + 1 : data.pass;
      model.visited.add(data.to);
      break;
    case 'tags':
      model.tags = data.tags;
      break;
    case 'statement':
      model.statements.push(data);
      model.lanes.delete(`${data.role}#${data.pass}`);
      break;
    case 'plan':
      model.plan = { tasks: inOrder(data.plan.tasks), fromPass: data.from_pass };
      break;
    case 'consensus':
      model.passes.push(data);
      break;
    case 'duels':
      model.duels = data.duels;
      break;
    case 'decision':
      model.decision = data;
      break;
    case 'task':
      takeTask(model, data);
      break;
    case 'health':
      model.checks = [...model.checks, data];
      break;
    case 'repair':
      takeRepair(model, data);
      break;
    case 'rollback':
      model.rollback = data;
      break;
    case 'waiting':
      model.waiting = data;
      break;
  }
};

/** Tasks in the order they run in: each after all it depends on, else as they are listed. */
export const inOrder = (tasks) => {
  const open = [...tasks];
  const ordered = [];
  for (;;) {
    const waiting = new Set(open.map(({ task_id }) => task_id));
    const next = open.findIndex(({ depends_on }) => depends_on.every((id) => !waiting.has(id)));
    if (next < 0) return [...ordered, ...open];
    ordered.push(...open.splice(next, 1));
  }
};

/**
 * What a role means by the JSON that it has streamed so far: the text of `field` as far as it is here. Text that is no JSON
 * is told as it is.
 */
export const spokenText = (streamed, field) => {
  if (!/^\s*(```\w*\s*)?\{/.test(streamed)) return streamed;
  const [, escaped] =
    new RegExp(`"${field}"\\s*:\\s*"((?:[^"\\\\]|\\\\u[0-9a-fA-F]{4}|\\\\[^u])*)`).exec(streamed) ?? [];
  if (escaped === undefined) return '';
  try {
    return JSON.parse(`"${escaped.replaceAll('\n', '\\n')}"`);
  } catch {
    return escaped; // no valid JSON: the gateway will say so once it is whole
  }
};

const latestRound = ({ tasks }) => Math.max(0, ...tasks.map((task) => task.round));

/** Whether the health check runs, before anybody is asked for the cause of a failure. */
export const isChecking = (model) =>
  model.state === 'SELF_HEALING' &&
  model.status?.healing?.check !== undefined &&
  !model.checks.some(({ round }) => round === latestRound(model)) &&
  !model.repairs.some(({ round }) => round > latestRound(model));

/** The role whose answer is under way, and its words so far; null: nobody speaks. */
export const speaker = (model) => {
  const { state, pass, lanes, repairs } = model;
  const role = /^ROUND_(\w+)$/.exec(state)?.[1].toLowerCase();
  const textOf = (lane, field) => spokenText(lanes.get(lane)?.text ?? '', field);
  if (role) return { role, pass, text: textOf(`${role}#${pass}`, 'position') };
  if (state !== 'SELF_HEALING' || isChecking(model)) return null;
  const round = latestRound(model) + 1;
  return repairs.some((repair) => repair.round === round && repair.diagnosis !== null)
    ? { role: 'solution', round, text: textOf('solution#repair', 'position') }
    : { role: 'critic', round, text: textOf('critic#diagnosis', 'diagnosis') };
};

/** The request that people are asked at the moment; null: there is none. */
export const openGate = ({ status }) => status?.feedback.findLast(({ state }) => state === 'open') ?? null;

/** Exactly what an open gate asks about, of the same status: the tasks that would run. */
export const gateTasks = (status, { request }) =>
  inOrder(request.phase === 'repair' ? (status.repairs.at(-1)?.tasks ?? []) : status.plan.tasks);

/**
 * The execution round by round: the repair that began it, what was run, what was not any more, and what is still to be run.
 */
export const roundsOf = (model) => {
  const { tasks, repairs, checks, plan, state, result, status } = model;
  const notRun = ((result ?? status)?.report?.tasks ?? []).filter(({ outcome }) => outcome === 'not_run');
  const last = Math.max(-1, ...[...tasks, ...repairs, ...notRun].map(({ round }) => round));
  return Array.from({ length: last + 1 }, (_, round) => {
    const repair = repairs.find((each) => each.round === round) ?? null;
    const begun = tasks.filter((task) => task.round === round);
    const left = notRun
      .filter((report) => report.round === round)
      .map((report) => ({ task_id: report.task_id, round, report }));
    const known = new Set([...begun, ...left].map(({ task_id }) => task_id));
    const planned = (repair ? repair.tasks : plan?.tasks) ?? [];
    const isRunning = state === 'EXECUTING' && round === last;
    return {
      round,
      repair,
      planned,
      tasks: [...begun, ...left],
      check: checks.find((each) => each.round === round) ?? null,
      ahead: isRunning ? planned.filter(({ task_id }) => !known.has(task_id)) : [],
    };
  });
};
