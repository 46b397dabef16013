import type { Role } from '../../contracts/debate.js';
import { iso } from '../instant.js';
import { inSeconds, isTimeOver } from '../work-account.js';
import { type DebateDraft, say } from './draft.js';
import type { AskOutcome } from './effects.js';
import { failureIn } from './execution.js';
import { diagnosisPrompt, reaskPrompt, repairPrompt } from './prompts.js';
import { repairedDigest, replacement } from './repair.js';
import { call } from './rounds.js';
import { inWords, vetoing } from './scan.js';
import type { DebateState, GaveUp, RepairRecord } from './state.js';
import type { Repair } from '../../contracts/debate-status.js';

/** Repairs that have been begun, whatever came of them: each costs calls (spec 02 `max_repairs`). */
export const repairsBegun = ({ execution }: Pick<DebateState, 'execution'>): number => execution?.repairs.length ?? 0;

export const repairOnWire = (repair: RepairRecord): Repair => ({
  round: repair.round,
  failed_task: repair.failedTask,
  diagnosis: repair.diagnosis,
  tasks: repair.tasks,
  findings: repair.findings,
  healed: repair.healed,
  given_up: repair.givenUp,
});

/** The same with the latest repair changed. */
export const changeRepair = (draft: DebateDraft, change: Partial<RepairRecord>): void => {
  const { debate } = draft;
  const latest = debate.execution?.repairs.at(-1);
  if (!debate.execution || !latest) return;
  const repair = { ...latest, ...change };
  debate.execution = { ...debate.execution, repairs: [...debate.execution.repairs.slice(0, -1), repair] };
  say(draft, { event: 'repair', data: { ...repairOnWire(repair), at: iso(draft.now) } });
};

const giveUp = (draft: DebateDraft, because: GaveUp, message: string, change: Partial<RepairRecord> = {}): void =>
  changeRepair(draft, { ...change, givenUp: { because, message } });

/** The repair under way: begun, and neither ready nor given up. */
const openRepair = ({ execution }: DebateState): RepairRecord | null => {
  const latest = execution?.repairs.at(-1);
  return latest && latest.tasks === null && latest.givenUp === null ? latest : null;
};

/** What a repair has come to: null while it is under way. */
export const repairState = ({ execution }: DebateState): 'ready' | 'given_up' | null => {
  const latest = execution?.repairs.at(-1);
  if (!latest) return null;
  return latest.givenUp ? 'given_up' : latest.tasks ? 'ready' : null;
};

/** Self-healing begins: the critic is asked for the cause (details 2.5). */
export const beginRepair = (draft: DebateDraft): void => {
  const { debate } = draft;
  const { execution } = debate;
  const failure = execution && failureIn(execution);
  if (!execution || !failure) return;
  const repair: RepairRecord = {
    round: execution.round + 1,
    failedTask: failure.task_id,
    diagnosis: null,
    tasks: null,
    findings: [],
    healed: false,
    givenUp: null,
  };
  debate.execution = { ...execution, valid: null, faults: [], repairs: [...execution.repairs, repair] };
  debate.firstTry = null;
  debate.healingSince = debate.steppedAt;
  askFor(draft, 'diagnosis', null);
};

/** Milliseconds that are left of one healing, for its diagnosis and its repaired plan; null: it has no time of its own. */
export const healingLeft = ({ setup, healingSince, steppedAt }: DebateState): number | null =>
  setup.healing && healingSince !== undefined
    ? Math.max(0, setup.healing.timeout_ms - (steppedAt - healingSince))
    : null;

const lateWords = ({ setup }: DebateState): string =>
  `the time of healing, ${inSeconds(setup.healing?.timeout_ms ?? 0)}, is over`;

const unanswered = { diagnosis: 'no_diagnosis', repair: 'no_repair' } as const;

const askedOf = { diagnosis: 'critic', repair: 'solution' } as const satisfies Record<string, Role>;

const askFor = (draft: DebateDraft, purpose: 'diagnosis' | 'repair', faults: readonly string[] | null): void => {
  const { debate } = draft;
  const role = askedOf[purpose];
  const withinMs = healingLeft(debate);
  if (withinMs === 0) {
    const before = faults === null ? '' : `: ${faults.join('; ')}`;
    return giveUp(draft, unanswered[purpose], `no ${purpose}: ${lateWords(debate)}${before}`);
  }
  const asked = purpose === 'diagnosis' ? diagnosisPrompt(debate) : repairPrompt(debate);
  const refused = call(draft, role, {
    purpose,
    attempt: faults === null ? 1 : 2,
    prompt: faults === null ? asked : reaskPrompt(asked, faults),
    instructions: debate.setup.roles[role].instructions,
    withinMs,
  });
  if (refused !== null) giveUp(draft, 'budget', `no ${purpose}: ${refused}`);
};

/** What cannot be read or used is asked for once more; then the repair is given up. */
const unusable = (draft: DebateDraft, purpose: 'diagnosis' | 'repair', faults: string[]): void => {
  const { debate } = draft;
  if (debate.firstTry !== null) {
    giveUp(draft, unanswered[purpose], `no ${purpose} that can be used: ${faults.join('; ')}`);
    return;
  }
  debate.firstTry = { faults, usage: { tokens: 0, usdMicros: 0 } };
  askFor(draft, purpose, faults);
};

/** An answer of the critic or the solution to the repair under way. */
export const hearRepair = (draft: DebateDraft, purpose: 'diagnosis' | 'repair', outcome: AskOutcome): void => {
  if (!openRepair(draft.debate)) return;
  switch (outcome.outcome) {
    case 'unreadable':
      return unusable(draft, purpose, outcome.faults);
    case 'failed': {
      const { debate } = draft;
      const because = isTimeOver(debate.ledger, debate.steppedAt) ? 'budget' : unanswered[purpose];
      const late = because !== 'budget' && healingLeft(debate) === 0 ? `${lateWords(debate)}: ` : '';
      return giveUp(draft, because, `no ${purpose}: ${late}${outcome.code}: ${outcome.message}`);
    }
    case 'diagnosis':
      if (purpose !== 'diagnosis') return unusable(draft, purpose, ['a repair was asked for; got a diagnosis']);
      draft.debate.firstTry = null;
      if (outcome.diagnosis === null) return giveUp(draft, 'no_diagnosis', 'the critic has no diagnosis');
      changeRepair(draft, { diagnosis: outcome.diagnosis });
      return askFor(draft, 'repair', null);
    case 'repair':
      if (purpose !== 'repair') return unusable(draft, purpose, ['a diagnosis was asked for; got a repair']);
      return takeRepair(draft, outcome);
    case 'statement':
      return unusable(draft, purpose, [`a ${purpose} was asked for; got a statement`]);
  }
};

/** A repaired plan is scanned again, and is not one that was tried before (spec 02 "self-healing"). */
const takeRepair = (draft: DebateDraft, { plan, findings }: Extract<AskOutcome, { outcome: 'repair' }>): void => {
  const { debate } = draft;
  const { execution } = debate;
  if (!execution) return;
  const replaced = replacement(execution, plan);
  if ('faults' in replaced) return unusable(draft, 'repair', replaced.faults);
  const { tasks } = replaced;
  const digest = repairedDigest(execution, tasks);
  if (execution.tried.includes(digest)) {
    const message = 'the repair has the commands of a plan that was tried before';
    return giveUp(draft, 'same_commands', message, { tasks });
  }
  const vetoes = vetoing(debate, findings);
  if (vetoes.length > 0) {
    const message = `the scan of the repaired plan vetoes it: ${inWords(vetoes)}`;
    return giveUp(draft, 'veto', message, { tasks, findings });
  }
  changeRepair(draft, { tasks, findings });
  const { repairs = [] } = debate.execution ?? {};
  // The next round runs this in place of the failed task and what followed.
  debate.execution = { ...execution, tried: [...execution.tried, digest], repairs, round: repairs.length, tasks };
};
