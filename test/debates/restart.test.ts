import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DebateStatus } from '../../src/contracts/debate-status.js';
import {
  aDebate,
  agrees,
  type DebateOver,
  makeWorkspace,
  proposes,
  removeWorkspaces,
  repairs,
  sh,
} from '../support/debate-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { call, makeInstallation, type Running, until } from '../support/installation.js';

/** A task that says when it has begun, and then takes its time; a second run of it shows in `runs`. */
const slow = (task_id: string, seconds: number, rest = 'true', more: object = {}) =>
  sh(task_id, `echo ${task_id} >> runs; touch begun-${task_id}; sleep ${seconds}; ${rest}`, more);
const hasBegun = (path: string, task: string): boolean => existsSync(join(path, `begun-${task}`));
const runsOf = (path: string): string => readFileSync(join(path, 'runs'), 'utf8').trim().replaceAll('\n', ' ');

interface Story {
  over: (path: string) => DebateOver;
  /** Whether the moment has come. */
  when: (status: DebateStatus, path: string) => boolean;
  then: (status: DebateStatus, path: string) => void;
}

const stories: Record<string, Story> = {
  'during a round': {
    over: () => ({ after_ms: 700, says: { solution: [proposes(sh('t', 'echo t >> runs'))] } }),
    when: ({ state }) => state === 'ROUND_CRITIC',
    then: (status, path) => {
      expect(status.result).toMatchObject({ outcome: 'succeeded', passes: 1 });
      // Who had spoken is not asked again.
      expect(status.roles.map(({ calls }) => calls)).toEqual([1, 1, 1, 1, 1]);
      expect(runsOf(path)).toBe('t');
    },
  },
  'during a task': {
    over: () => ({
      says: {
        solution: [proposes(sh('first', 'echo first >> runs'), slow('second', 2, 'true', { depends_on: ['first'] }))],
      },
    }),
    when: (_, path) => hasBegun(path, 'second'),
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
    over: () => ({
      says: {
        solution: [
          proposes(sh('a', 'echo a >> runs'), slow('b', 0, 'exit 1', { depends_on: ['a'] })),
          repairs(sh('c', 'echo c >> runs')),
        ],
        critic: [agrees(), { diagnosis: 'b is wrong' }],
      },
      after_ms: 500,
    }),
    when: ({ report, state }) => report?.tasks.length === 2 || state === 'SELF_HEALING',
    then: (status, path) => {
      expect(status.result?.outcome).toBe('succeeded');
      expect(runsOf(path)).toBe('a b c');
    },
  },
  'during a rollback': {
    over: () => ({
      says: {
        solution: [
          proposes(
            sh('a', 'echo a >> runs', { undo: { argv: ['true'] } }),
            sh('b', 'true', { depends_on: ['a'], undo: { argv: ['sh', '-c', 'touch undoing; sleep 2'] } }),
            sh('c', 'exit 1', { depends_on: ['b'] }),
          ),
        ],
        critic: [agrees(), { diagnosis: null }],
      },
    }),
    when: (_, path) => existsSync(join(path, 'undoing')),
    then: (status, path) => {
      expect(status.result?.outcome).toBe('rolled_back');
      expect(status.report?.rollback?.undone.map(({ task_id }) => task_id)).toEqual(['b', 'a']);
      expect(status.report?.rollback?.workspace_after).toBe(status.report?.rollback?.workspace_before);
      expect(existsSync(join(path, 'runs'))).toBe(false);
      expect(statSync(join(path, 'kept')).size).toBe(4);
    },
  },
};

describeWithSandbox('when everything is killed', () => {
  const installation = makeInstallation();
  const places: Record<string, string> = {};
  let running: Running;
  const pathOf = (name: string): string => (places[name] ??= makeWorkspace({ kept: 'kept' }));
  const idOf = (name: string): string => name.replaceAll(' ', '-');

  // One after the other, on one installation: each debate meets its own kill, and some of the later ones.
  beforeAll(async () => {
    running = await installation.start();
    for (const [name, { over, when }] of Object.entries(stories)) {
      const path = pathOf(name);
      const answer = await call(running.url, '/v1/debates', {
        ...aDebate({ workspace: { path }, ...over(path) }),
        id: idOf(name),
      });
      if (answer.status !== 202) throw new Error(answer.text);
      await until<DebateStatus>(running.url, `/v1/debates/${idOf(name)}`, (status) => when(status, path));
      await installation.kill(running);
      running = await installation.start();
    }
  }, 240_000);
  afterAll(() => {
    installation.remove();
    removeWorkspaces();
  });

  test.each(Object.keys(stories))(
    '%s, the debate ends as it would have',
    async (name) => {
      const ended = await until<DebateStatus>(
        running.url,
        `/v1/debates/${idOf(name)}`,
        ({ lifecycle }) => lifecycle === 'completed',
      );
      stories[name]!.then(ended, pathOf(name));
    },
    60_000,
  );
});
