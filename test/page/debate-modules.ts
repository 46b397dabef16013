import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DebateDurableEvent, NumberedDebateEvent } from '../../src/contracts/debate-events.js';
import type { DebateStatus, Repair } from '../../src/contracts/debate-status.js';
import type { CommandReport, HealthReport, TaskReport } from '../../src/contracts/execution.js';
import type { Approval } from '../../src/contracts/feedback.js';
import type { Task } from '../../src/contracts/plan.js';
import { debateStatus } from '../../src/domain/debate/view.js';
import { type DebateBody, DebatePlay, plan } from '../support/debate-play.js';

export interface Model {
  lanes: Map<string, { text: string }>;
  plan: { tasks: Task[]; fromPass: number } | null;
}
export interface Round {
  round: number;
  repair: Repair | null;
  tasks: { task_id: string; report: TaskReport | null }[];
  check: HealthReport | null;
  ahead: Task[];
}
export interface DebateModel {
  createModel: () => Model;
  modelAt: (status: DebateStatus, visited: readonly string[]) => Model;
  takeStatus: (model: Model, status: DebateStatus) => void;
  takeEvent: (model: Model, event: NumberedDebateEvent) => void;
  takePartial: (model: Model, partial: { lane_id: string; attempt: number; offset: number; text: string }) => boolean;
  inOrder: (tasks: readonly Task[]) => Task[];
  spokenText: (streamed: string, field: string) => string;
  speaker: (model: Model) => { role: string; text: string } | null;
  openGate: (model: Model) => Approval | null;
  gateTasks: (status: DebateStatus, approval: Approval) => Task[];
  roundsOf: (model: Model) => Round[];
}
export interface DebateSteps {
  stepsOf: (model: Model) => { name: string; stand: 'done' | 'failed' | 'now' | 'ahead' | 'skipped'; note: string }[];
}
export interface DebateWords {
  announcement: (model: Model) => string;
  describeEvent: (event: NumberedDebateEvent) => [string, string];
  commandLine: (argv: readonly string[]) => string;
  enforcement: (enforced: CommandReport['enforced']) => { held: string[]; notHeld: string[] };
  expectations: (task: Task) => string[];
  endOf: (command: Pick<CommandReport, 'exit_code' | 'signal' | 'limit'>) => string;
}

// The page is plain JavaScript for browsers: its pure modules load in Node as they are.
const load = async <T>(file: string): Promise<T> => (await import(pathToFileURL(resolve('src/page', file)).href)) as T;

export const page = await load<DebateModel>('debate-model.js');
export const steps = await load<DebateSteps>('debate-steps.js');
export const words = await load<DebateWords>('debate-words.js');

export const numbered = ({ events }: DebatePlay): NumberedDebateEvent[] =>
  events.map((event: DebateDurableEvent, index) => ({ ...event, id: index + 1 }));

/** What the page knows of a debate that was played so far. */
export const seen = (play: DebatePlay): Model => {
  const model = page.createModel();
  page.takeStatus(model, debateStatus(play.debate));
  for (const event of numbered(play)) page.takeEvent(model, event);
  return model;
};

export const opened = (body: DebateBody = {}): DebatePlay => new DebatePlay(body).open();
export const twoTasks = { plan: plan('a', 'b') };
export const executing = (body: DebateBody = {}): DebatePlay =>
  opened({ ...twoTasks, ...body })
    .pass()
    .snapshot();
export const failing = (body: DebateBody = {}): DebatePlay => executing(body).ends('succeeded').ends('failed');
export const gated = { approval: { required: true } };
export const vetoed = (): DebatePlay => opened(twoTasks).pass({ security: { stance: 'against', confidence: 0.95 } });
