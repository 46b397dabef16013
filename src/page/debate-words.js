// A debate in words: commands, reports, events.
import { isChecking, openGate, speaker } from './debate-model.js';
import { describeCommon, firstLine, headline, percent, words } from './model.js';
import { bytes, counted, duration } from './units.js';

const shellWord = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** A command as a shell would take it; no shell reads it unless the program is one. */
export const commandLine = (argv) => argv.map(shellWord).join(' ');

/** What a task declares of its end, a line each. */
export const expectations = ({ expect }) => [
  `exits with ${expect.exit_code}`,
  ...expect.files.map((file) => {
    const { path, exists = true, sha256, contains } = typeof file === 'string' ? { path: file } : file;
    if (!exists) return `${path} is not there`;
    const more = [contains && `contains ${JSON.stringify(contains)}`, sha256 && `has the sha256 ${sha256}`];
    return `${path} ${more.filter(Boolean).join(' and ') || 'is there'}`;
  }),
];

export const limitWords = ({ timeout_ms, cpu_ms, memory_mb, processes, output_bytes }) =>
  [
    `at most ${duration(timeout_ms)}`,
    cpu_ms && `${duration(cpu_ms)} of CPU`,
    `${memory_mb} MB`,
    counted(processes, 'process', 'processes'),
    `the last ${bytes(output_bytes)} of output`,
  ]
    .filter(Boolean)
    .join(', ');

/** What a backend held a command to, and what it could not: two lists. */
export const enforcement = ({ network, filesystem, user, environment, time, cpu, memory, processes, output, tree }) => {
  const by = (means) => (means === 'none' ? '' : ` by ${words(means)}`);
  const all = [
    ['no network', network],
    ['only the workspace can be written', filesystem],
    ['no privileges', user],
    ['a clean environment', environment],
    ['time', time],
    ['CPU', cpu],
    [`memory${by(memory)}`, memory !== 'none'],
    [`processes${by(processes)}`, processes !== 'none'],
    ['output', output],
    ['the whole process tree', tree],
  ];
  const names = (wanted) => all.filter(([, held]) => held === wanted).map(([name]) => name);
  return { held: names(true), notHeld: names(false) };
};

/** How a command ended. */
export const endOf = ({ exit_code, signal, limit }) => {
  if (limit) return `ended at its limit of ${limit}`;
  return exit_code === null ? `ended by ${signal ?? 'a signal'}` : `exit ${exit_code}`;
};

export const outcomeTitles = {
  succeeded: 'Succeeded',
  blocked: 'Blocked',
  rolled_back: 'Rolled back',
  rollback_incomplete: 'Rolled back in part',
  aborted: 'Aborted',
};

const now = {
  IDLE: 'It begins',
  VERIFYING_IDENTITY: 'The worker is checked against the locks',
  LOADING_CONTEXT: 'Past debates and ratings are looked up',
  CLASSIFYING: 'The task is given tags',
  PLANNING: 'The initial plan is taken',
  MULTI_PASS_CHECK: 'The votes decide whether another pass is needed',
  AGGREGATING: 'The votes are counted',
  CALCULATING_CONSENSUS: 'The votes are counted',
  ELO_DUELS: 'Ratings are settled',
  RESOLVING: 'The plan is decided on',
  AWAITING_APPROVAL: 'The plan waits for an approval',
  BLOCKED: 'The plan is blocked',
  EXECUTING: 'The plan is being executed',
  VALIDATING: 'What was done is validated',
  SUCCEEDED: 'The debate has succeeded',
  SELF_HEALING: 'The failed execution is being mended',
  ROLLING_BACK: 'What was done is being taken back',
  STORING_MEMORY: 'The debate is being remembered',
  AUDITING: 'The audit log is being written',
  DONE: 'It is over',
  ABORTED: 'It was aborted',
};

/** What goes on, in a sentence. */
export const nowWords = (model) => {
  if (isChecking(model)) return 'The health check says whether there is anything to mend';
  const speaks = speaker(model);
  if (speaks?.pass) return `The ${speaks.role} speaks in pass ${speaks.pass}`;
  if (speaks) return speaks.role === 'critic' ? 'The critic looks for the cause' : 'The solution writes a repair';
  const running = model.state === 'EXECUTING' ? model.tasks.find(({ report }) => report === null) : undefined;
  return running ? `Task ${running.task_id} runs` : now[model.state];
};

/** What a screen reader is told: steps, decisions and ends, never single words of a stream. */
export const announcement = (model) => {
  const { result, error, passes } = model;
  if (result) return `${outcomeTitles[result.outcome]}: ${result.reason}`;
  if (error) return `The debate failed: ${error.message}`;
  const gate = openGate(model);
  if (gate) return `An approval is asked for: ${firstLine(gate.request.prompt)}`;
  const latest = passes.at(-1);
  const consensus = latest ? `Consensus ${percent(latest.consensus)} after pass ${latest.pass}. ` : '';
  return `${consensus}${nowWords(model)}.`;
};

const statementWords = ({ role, pass, stance, confidence, position, failure }) =>
  stance === 'abstain'
    ? `${role} abstains in pass ${pass}${failure ? `: ${failure.code}, ${headline(failure.message)}` : ''}`
    : `${role} is ${stance} (${percent(confidence)}) in pass ${pass}: ${headline(position)}`;

const reportWords = ({ task_id, outcome, command, reason, attempt }) =>
  [
    `${task_id} ${words(outcome)}`,
    attempt > 1 && ` at attempt ${attempt}`,
    command && `, ${endOf(command)} after ${duration(command.duration_ms)}`,
    outcome !== 'succeeded' && reason && `: ${headline(reason)}`,
  ]
    .filter(Boolean)
    .join('');

/** What a health check said, in a sentence. */
export const healthWords = ({ failed_task: failed, healthy, reason }) =>
  healthy
    ? `nothing to heal, though ${failed} failed`
    : `not healthy after ${failed} failed: ${headline(reason ?? '')}`;

const repairWords = ({ round, failed_task, diagnosis, tasks, healed, given_up }) => {
  if (given_up) return `repair ${round} of ${failed_task} given up: ${given_up.message}`;
  if (healed) return `repair ${round} has healed it`;
  if (tasks) return `repair ${round} of ${failed_task}: ${counted(tasks.length, 'task')}`;
  return `repair ${round} of ${failed_task}: ${headline(diagnosis ?? 'begun')}`;
};

/** A durable event in words, for the timeline: [kind, sentence]. */
export const describeEvent = (told) => {
  const { event, data } = told;
  switch (event) {
    case 'state':
      return ['state', `${words(data.from)} → ${words(data.to)}`];
    case 'tags':
      return ['tags', data.tags.map(({ tag, score }) => `${tag} ${percent(score)}`).join(', ') || 'none'];
    case 'statement':
      return ['statement', statementWords(data)];
    case 'plan':
      return [
        'plan',
        `${counted(data.plan.tasks.length, 'task')}, ${data.from_pass === 0 ? 'of the request' : `of pass ${data.from_pass}`}`,
      ];
    case 'consensus':
      return ['consensus', `${percent(data.consensus)} after pass ${data.pass}: ${data.why}`];
    case 'duels':
      return ['duels', data.duels.map(({ winner, loser }) => `${winner.role} beats ${loser.role}`).join(', ')];
    case 'decision':
      return ['decision', `${data.decision}: ${data.why}`];
    case 'task':
      return ['task', data.stage === 'started' ? `${data.task_id} begins` : reportWords(data.report)];
    case 'health':
      return ['health', healthWords(data)];
    case 'repair':
      return ['repair', repairWords(data)];
    case 'rollback':
      if (data.stage === 'started') return ['rollback', `begins: ${data.why}`];
      return ['rollback', data.report === null ? 'nothing to take back' : rollbackWords(data.report)];
    case 'budget':
      return ['budget', `${data.role} may not speak: ${data.message}`];
    case 'final':
      return ['final', `${outcomeTitles[data.outcome]}: ${headline(data.reason)}`];
    default:
      return describeCommon(told);
  }
};

export const restoredWords = ({ restored, restore_error: error }) => {
  if (restored) return 'the workspace is as it was, byte for byte';
  return `the workspace is not as it was${error ? `: ${error}` : ''}`;
};

const rollbackWords = (report) =>
  [
    restoredWords(report),
    report.manual.length > 0 && `${counted(report.manual.length, 'thing')} left for a person to do`,
  ]
    .filter(Boolean)
    .join('; ');
