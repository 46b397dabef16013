// What a person has seen of a fan-out so far, as plain data and words; the views only draw it.
import {
  appendText,
  describeCommon,
  emptyModel,
  emptyText,
  firstLine,
  headline,
  percent,
  takeCommonEvent,
  takeCommonStatus,
  words,
} from './model.js';
import { counted } from './units.js';

export const collection = 'fan-outs';
export const lookEveryMs = 3_000;
/** Fan-outs up to this size are looked at with every task that ends: answers and attempts stand in the status alone. */
const smallFanOut = 50;
const asking = new Set(['state', 'barrier', 'fan_in']);
export const asksForStatus = ({ event, data }, { tasks }) =>
  asking.has(event) || (event === 'task' && data.state !== 'RUNNING' && tasks.size <= smallFanOut);

/** How a person counts tasks; a task that was refused its place, or lost it, has failed. */
export const taskGroups = [
  ['completed', ['COMPLETED']],
  ['failed', ['FAILED', 'REJECTED', 'EVICTED']],
  ['cancelled', ['CANCELLED']],
  ['running', ['RUNNING']],
  ['waiting', ['QUEUED']],
].map(([name, states]) => ({ name, states: new Set(states) }));

export const createModel = () => ({
  ...emptyModel('IDLE'),
  /** In the order of the request. */
  tasks: new Map(),
  /** Share of completed tasks over time, a point per percent. */
  course: [],
});

const newTask = (taskId, agentId) => ({
  taskId,
  agentId,
  state: 'QUEUED',
  ...emptyText(),
  startedAt: null,
  endedAt: null,
  output: null,
  kept: null,
  reason: null,
  late: false,
});

/** Tasks go this way alone, so the later of two reports is the newer one. */
const stage = (state) => (state === 'QUEUED' ? 0 : state === 'RUNNING' ? 1 : 2);

const moveCourse = ({ tasks, course }) => {
  const completed = [...tasks.values()].filter(({ state }) => state === 'COMPLETED').length;
  const share = tasks.size === 0 ? 0 : Math.round((100 * completed) / tasks.size) / 100;
  if (course.at(-1) !== share) course.push(share);
};

export const takeStatus = (model, status) => {
  for (const told of status.tasks) {
    const task = model.tasks.get(told.task_id) ?? newTask(told.task_id, told.agent_id);
    model.tasks.set(told.task_id, task);
    // A status may be older than what the stream has told since.
    if (stage(told.state) < stage(task.state)) continue;
    const { state, reason, late, output, kept } = told;
    Object.assign(task, { state, reason, late, output, kept, startedAt: told.started_at, endedAt: told.ended_at });
    task.attempt = Math.max(task.attempt, told.attempt);
  }
  moveCourse(model);
  return takeCommonStatus(model, status);
};

/** What a status alone tells: how it was at a checkpoint. */
export const modelAt = (status) => takeStatus(createModel(), status);

/** Takes text of a worker; returns false when text before it is missing. What the fan-in's own agents say is not shown. */
export const takePartial = ({ tasks }, partial) => {
  const task = tasks.get(partial.lane_id);
  return !task || stage(task.state) > 1 || appendText(task, partial);
};

const takeTask = (model, { at, task_id: id, agent_id: agent, state, late, reason }) => {
  const task = model.tasks.get(id) ?? newTask(id, agent);
  model.tasks.set(id, task);
  // A status may already have told more than this older event.
  if (stage(state) < stage(task.state)) return;
  Object.assign(task, { state, late, reason });
  if (state === 'RUNNING') task.startedAt ??= at;
  else if (state !== 'QUEUED') task.endedAt ??= at;
  if (state === 'COMPLETED') moveCourse(model);
};

export const takeEvent = (model, event) => {
  takeCommonEvent(model, event);
  if (event.event === 'task') takeTask(model, event.data);
};

/** How many tasks stand where: {name, count} of each group. */
export const countsOf = ({ tasks }) => {
  const all = [...tasks.values()];
  return taskGroups.map(({ name, states }) => ({ name, count: all.filter(({ state }) => states.has(state)).length }));
};

export const tasksIn = ({ tasks }, group) => {
  const states = taskGroups.find(({ name }) => name === group)?.states;
  return [...tasks.values()].filter(({ state }) => !states || states.has(state));
};

/** The value at a JSON pointer (RFC 6901); undefined: nothing is there. */
export const valueAt = (value, pointer) =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((inner, part) => (inner !== null && Object.hasOwn(Object(inner), part) ? inner[part] : undefined), value);

/** Tasks that have no part in the value, each with what became of it. */
export const withoutWords = ({ failed, missing }) =>
  [
    failed.length > 0 && `${counted(failed.length, 'task')} failed`,
    missing.length > 0 && `${missing.length} had not ended`,
  ]
    .filter(Boolean)
    .join(', ');

const now = {
  IDLE: 'It begins',
  PREPARING: 'A folder is prepared for each worker',
  FANNING_IN: 'The answers are being combined',
  SCORING: 'A critic scores the combined value',
  COMPLETED: 'It is over',
  FAILED: 'It failed',
  CANCELLED: 'Cancelled',
};

/** What goes on, in a sentence. */
export const nowWords = (model) => {
  if (model.state !== 'RUNNING') return now[model.state];
  const running = tasksIn(model, 'running').length;
  return running === 1 ? '1 worker runs' : `${running} workers run`;
};

/** What a screen reader is told: phases, the barrier and the end, never single tasks. */
export const announcement = (model) => {
  const { result, error, state, status } = model;
  if (result) return `Combined by ${words(result.aggregation_strategy)}${result.partial ? ', in part' : ''}.`;
  if (error) return `The fan-out failed: ${headline(error.message)}`;
  if (state !== 'RUNNING') return `${now[state]}.`;
  return `The workers run${status ? `, ${status.tasks.length} tasks in all` : ''}.`;
};

/** A durable event in words, for the timeline: [kind, sentence]. */
export const describeEvent = (told) => {
  const { event, data } = told;
  switch (event) {
    case 'state':
      return ['state', `${words(data.from)} → ${words(data.to)}`];
    case 'task':
      return [
        'task',
        `${data.task_id} ${words(data.state)}${data.late ? ', late' : ''}${data.reason ? `: ${headline(data.reason.message)}` : ''}`,
      ];
    case 'barrier':
      return [
        'barrier',
        `${data.passed ? 'passed' : 'not passed'}, ${data.completed} of ${data.total} completed${data.released_by ? ` (${words(data.released_by)})` : ''}`,
      ];
    case 'fan_in':
      return [
        'fan-in',
        `${words(data.stage)}, ${counted(data.results, 'result')}, ${counted(data.conflicts, 'conflict')}${data.quality?.score ? `, score ${percent(data.quality.score)}` : ''}`,
      ];
    case 'final':
      return ['final', firstLine(data.value)];
    default:
      return describeCommon(told);
  }
};
