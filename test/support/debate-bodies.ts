import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenDebateBody, Role } from '../../src/contracts/debate.js';
import type { PlanBody } from '../../src/contracts/plan.js';

type TaskBody = PlanBody['tasks'][number];
type Said = object | string;

class Late {
  constructor(
    readonly after_ms: number,
    readonly said: object,
  ) {}
}
/** What is said only after so many milliseconds. */
export const late = (after_ms: number, said: object): object => new Late(after_ms, said);

const workspaces: string[] = [];
/** A folder of its own for a debate, with the files that are given; `removeWorkspaces` removes them all. */
export const makeWorkspace = (files: Record<string, string> = {}): string => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-workspace-'));
  workspaces.push(folder);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
};
export const removeWorkspaces = (): void => {
  for (const folder of workspaces.splice(0)) rmSync(folder, { recursive: true, force: true });
};

export const sh = (task_id: string, script: string, more: Partial<TaskBody> = {}): TaskBody => ({
  task_id,
  argv: ['sh', '-c', script],
  ...more,
});

export const agrees = (confidence = 0.9, more: object = {}): object => ({
  stance: 'for',
  confidence,
  position: 'fine',
  ...more,
});
export const objects = (confidence: number, why = 'no'): object => ({ stance: 'against', confidence, position: why });
export const proposes = (...tasks: TaskBody[]): object => agrees(0.9, { plan: { tasks } });
/** A repair: tasks in place of the failed one and what follows. */
export const repairs = (...tasks: TaskBody[]): object => ({ plan: { tasks } });

export interface DebateOver extends Partial<Omit<OpenDebateBody, 'roles'>> {
  /** What each role says, call by call; the last is repeated. A role left out agrees. */
  says?: Partial<Record<Role, Said[]>>;
  /** Milliseconds before each answer. */
  after_ms?: number;
}

const roles: readonly Role[] = ['analyst', 'solution', 'critic', 'security', 'optimizer'];

/** A debate whose roles are scripted; the test names only what decides. */
export const aDebate = ({ says = {}, after_ms = 0, ...over }: DebateOver = {}): OpenDebateBody => ({
  task: 'Make it so',
  workspace: { path: over.workspace?.path ?? makeWorkspace() },
  ...over,
  roles: Object.fromEntries(
    roles.map((role) => [
      role,
      {
        adapter: {
          kind: 'scripted',
          script: (says[role] ?? [agrees()]).map((said) =>
            said instanceof Late
              ? { after_ms: said.after_ms, final: JSON.stringify(said.said) }
              : { after_ms, final: typeof said === 'string' ? said : JSON.stringify(said) },
          ),
        },
      },
    ]),
  ) as OpenDebateBody['roles'],
});
