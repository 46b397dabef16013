import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenDebateBody, Role } from '../../src/contracts/debate.js';
import type { DebateStatus } from '../../src/contracts/debate-status.js';
import { aDebate, agrees, makeWorkspace, proposes, repairs, sh } from '../support/debate-bodies.js';

// Debates that are in the middle of something when everything is killed.

/** How long those moments last that no file can hold: they all come, one beside the other, before the kill. */
const momentMs = 5_000;

/** A command that says that it has begun, and then waits until the test lets it go on. */
const holding = (name: string, before: string, after: string): string[] => [
  ...['sh', '-c', `${before}; touch held-$0; until [ -e go-$0 ]; do sleep 0.1; done; ${after}`, name],
];
const noted = (name: string, more = 'true'): ReturnType<typeof sh> => sh(name, `echo ${name} >> runs; ${more}`);
export const isHeld = (path: string, name: string): boolean => existsSync(join(path, `held-${name}`));
export const letGo = (path: string, name: string): void => writeFileSync(join(path, `go-${name}`), '');
const runsOf = (path: string): string => readFileSync(join(path, 'runs'), 'utf8').trim().replaceAll('\n', ' ');

/** The same debate, in which one answer of a role takes a moment. */
const thinking = (body: OpenDebateBody, role: Role, call: number): OpenDebateBody => {
  const adapter = body.roles[role]?.adapter;
  const answer = adapter?.kind === 'scripted' ? adapter.script[call] : undefined;
  if (answer === undefined) throw new Error(`${role} has no answer ${call}`);
  answer.after_ms = momentMs;
  return body;
};

interface KilledDebate {
  body: (path: string) => OpenDebateBody;
  /** What runs until the test lets it go on: after the kill, or before it, where the moment comes only then. */
  holds?: { name: string; untilKilled: boolean };
  /** Whether the moment has come, where nothing is held until the kill. */
  when?: (status: DebateStatus) => boolean;
  then: (status: DebateStatus, path: string) => void;
}

export const killedDebates: Record<string, KilledDebate> = {
  'during a round': {
    body: (path) => thinking(aDebate({ workspace: { path }, says: { solution: [proposes(noted('t'))] } }), 'critic', 0),
    when: ({ state }) => state === 'ROUND_CRITIC',
    then: (status, path) => {
      expect(status.result).toMatchObject({ outcome: 'succeeded', passes: 1 });
      // Who had spoken is not asked again.
      expect(status.roles.map(({ calls }) => calls)).toEqual([1, 1, 1, 1, 1]);
      expect(runsOf(path)).toBe('t');
    },
  },
  'during a task': {
    body: (path) => {
      const second = {
        task_id: 'second',
        argv: holding('second', 'echo second >> runs', 'true'),
        depends_on: ['first'],
      };
      return aDebate({ workspace: { path }, says: { solution: [proposes(noted('first'), second)] } });
    },
    holds: { name: 'second', untilKilled: true },
    then: (status, path) => {
      expect(status.result?.outcome).toBe('succeeded');
      // The task that was under way is repeated, and named as repeated; the one that had finished is not.
      expect(status.report?.tasks.map(({ task_id, attempt }) => `${task_id} ${attempt}`)).toEqual([
        'first 1',
        'second 2',
      ]);
      expect(runsOf(path)).toBe('first second second');
    },
  },
  'between a task and its validation': {
    body: (path) => {
      const b = { task_id: 'b', argv: holding('b', 'echo b >> runs', 'exit 1'), depends_on: ['a'] };
      const solution = [proposes(noted('a'), b), repairs(noted('c'))];
      const critic = [agrees(), { diagnosis: 'b is wrong' }];
      return thinking(aDebate({ workspace: { path }, says: { solution, critic } }), 'critic', 1);
    },
    holds: { name: 'b', untilKilled: false },
    when: ({ report, state }) => report?.tasks.length === 2 || state === 'SELF_HEALING',
    then: (status, path) => {
      expect(status.result?.outcome).toBe('succeeded');
      expect(runsOf(path)).toBe('a b c');
    },
  },
  'during a rollback': {
    body: (path) => {
      const a = { ...noted('a'), undo: { argv: ['true'] } };
      const b = { ...sh('b', 'true', { depends_on: ['a'] }), undo: { argv: holding('undo', 'true', 'true') } };
      const solution = [proposes(a, b, sh('c', 'exit 1', { depends_on: ['b'] }))];
      return aDebate({ workspace: { path }, says: { solution, critic: [agrees(), { diagnosis: null }] } });
    },
    holds: { name: 'undo', untilKilled: true },
    then: (status, path) => {
      expect(status.result?.outcome).toBe('rolled_back');
      expect(status.report?.rollback?.undone.map(({ task_id }) => task_id)).toEqual(['b', 'a']);
      expect(status.report?.rollback?.workspace_after).toBe(status.report?.rollback?.workspace_before);
      expect(existsSync(join(path, 'runs'))).toBe(false);
      expect(statSync(join(path, 'kept')).size).toBe(4);
    },
  },
};

const workspaces: Record<string, string> = {};
export const workspaceOf = (name: string): string => (workspaces[name] ??= makeWorkspace({ kept: 'kept' }));
export const idOf = (name: string): string => name.replaceAll(' ', '-');
