import type { Json } from '../../contracts/frames.js';
import type { NextStep } from '../../contracts/run-status.js';
import type { RunSetup, StepSetup, StepWork } from './setup.js';

const json = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

/** Of the body that starts work by itself, what the run decides in its place is left out. */
const bodyOf = (request: Json, kind: StepWork['kind']): Json => {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) return request;
  const { tenant: _tenant, workspace, ...body } = request;
  return kind === 'debate' || workspace === undefined ? body : { ...body, workspace };
};

/** Exactly what a step does, as its definition has it (spec 08 "plan, arguments"). */
const doesOf = (work: StepWork): Json => {
  switch (work.kind) {
    case 'gate':
      return null;
    case 'command':
      return json({ ...work.task, sandbox: work.sandbox });
    default:
      return bodyOf(work.request, work.kind);
  }
};

const nextStep = ({ phase, name, work, onError, gate }: StepSetup): NextStep => ({
  phase,
  name,
  kind: work.kind,
  does: doesOf(work),
  on_error: onError,
  asks: gate?.type ?? null,
});

/** What begins after the step at `position` without anybody being asked again: up to the next gate, which is the last of them. */
export const nextSteps = ({ steps }: Pick<RunSetup, 'steps'>, position: number): NextStep[] => {
  const after = steps.slice(position + 1);
  const gate = after.findIndex((step) => step.gate !== null);
  return after.slice(0, gate === -1 ? after.length : gate + 1).map(nextStep);
};

const word = (argument: string): string => (/^[\w@%+=:,./-]+$/.test(argument) ? argument : JSON.stringify(argument));

/** So much of a command stands in a sentence; the whole is in the content. */
const saidChars = 160;

/** A step in words: a command with its program and arguments. */
export const nextWords = ({ phase, name, kind, does }: NextStep): string => {
  const at = `${phase} -> ${name}`;
  if (kind !== 'command') return `${at} (${kind})`;
  const argv = typeof does === 'object' && does !== null && !Array.isArray(does) ? does['argv'] : null;
  const said = Array.isArray(argv) ? argv.map((part) => (typeof part === 'string' ? word(part) : '')).join(' ') : '';
  return `${at}: ${said.length > saidChars ? `${said.slice(0, saidChars)}…` : said}`;
};
