import type { Role } from '../../contracts/debate.js';
import type { DebateStateName } from '../../contracts/debate-status.js';

/** The order of the rounds (spec 02 "Rounds"); on later passes all but the analyst speak again. */
export const roleOrder = ['analyst', 'solution', 'critic', 'security', 'optimizer'] as const satisfies readonly Role[];

/** Spec 02 "Aggregation". */
export const roleWeights: Readonly<Record<Role, number>> = {
  analyst: 1,
  solution: 1.2,
  critic: 1.5,
  security: 2,
  optimizer: 0.8,
};

const rounds = {
  ROUND_ANALYST: 'analyst',
  ROUND_SOLUTION: 'solution',
  ROUND_CRITIC: 'critic',
  ROUND_SECURITY: 'security',
  ROUND_OPTIMIZER: 'optimizer',
} as const satisfies Partial<Record<DebateStateName, Role>>;

/** Who speaks in a state, or null where nobody does. */
export const speakerIn = (state: DebateStateName): Role | null =>
  state in rounds ? rounds[state as keyof typeof rounds] : null;

/** Whose rating each role argues with. */
export const personasOf = ({
  roles,
}: {
  roles: Readonly<Record<Role, { personaId: string }>>;
}): Record<Role, string> => ({
  analyst: roles.analyst.personaId,
  solution: roles.solution.personaId,
  critic: roles.critic.personaId,
  security: roles.security.personaId,
  optimizer: roles.optimizer.personaId,
});

/** What each role is told to be, unless the request replaces it (spec 02 "Rounds"). */
export const builtInInstructions: Readonly<Record<Role, string>> = {
  analyst: [
    'You are the analyst of a team that decides on a plan of commands for a task. You speak first.',
    'Say what the task really asks for, what is known, what is assumed and what is missing; name the constraints, the',
    'parts of the workspace it touches, and how one could tell afterwards that it was done right. Propose no commands.',
    'Your stance says whether the task, as it is put, can be done responsibly; your confidence says how sure you are.',
  ].join(' '),
  solution: [
    'You are the solution role: you alone write the plan that will be judged and run. Turn the task into the fewest',
    'commands that do it. Every task names its argv, what it depends on, what must hold afterwards, and, where it changes',
    'something outside the workspace or something that restoring files does not take back, the undo that reverts it.',
    'Prefer small tasks that can be checked one by one. On later passes answer the reviews: change what they are right',
    'about, say why you keep the rest, and give the whole plan again. Your stance is on your own plan: be honest where',
    'it is weak.',
  ].join(' '),
  critic: [
    'You are the critic. Look for what makes the plan fail or do the wrong thing: missing steps, wrong order, commands',
    'that do not do what they are meant to, assertions that would pass although the work is not done, an undo that',
    'does not undo. Judge what the plan would do, not how it is worded. Name each fault with its task and what would',
    'mend it. Be for the plan when nothing serious is left; be against it, with a confidence to match, when it would fail.',
  ].join(' '),
  security: [
    'You are the security role. Judge what the plan could damage or give away: destruction or change outside the',
    'workspace, injection, secrets in arguments or output, data sent over the network, more rights than the work needs,',
    'code from places nobody vouches for. A shell, a pipe or a write inside the workspace is no fault by itself. Findings',
    'of a static scan are added to what you say. Be against the plan only for a danger you can name, with your confidence',
    'that it is real: from 0.9 on you veto the plan and nothing is run.',
  ].join(' '),
  optimizer: [
    'You are the optimizer. You speak last, on a plan the others have reviewed. Say what would make it simpler, faster or',
    'cheaper to run and to take back without weakening what the critic and security asked for: tasks that can go, commands',
    'that can be one, limits that are too wide. Be for a plan that is good enough; be against one whose cost is out of',
    'proportion to the task.',
  ].join(' '),
};
