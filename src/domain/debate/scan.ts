import type { Finding } from '../../contracts/finding.js';
import type { Plan } from '../../contracts/plan.js';
import { atLeast } from '../numbers.js';
import { scanPlan } from '../security-rules/index.js';
import type { DebateState } from './state.js';

/** What the static rules find in a plan, in this debate's workspace (spec 02 "Decision"). */
export const findingsIn = ({ workspace, setup }: DebateState, plan: Plan): Finding[] =>
  scanPlan(plan, workspace ?? setup.workspace.path);

export const inWords = (findings: readonly Finding[]): string =>
  findings.map(({ rule, where }) => `${rule} at ${where}`).join(', ');

/** The findings that veto by themselves. */
export const vetoing = ({ setup }: DebateState, findings: readonly Finding[]): Finding[] =>
  findings.filter(({ confidence }) => atLeast(confidence, setup.limits.veto));
