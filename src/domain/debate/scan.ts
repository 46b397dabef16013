import type { Finding } from '../../contracts/finding.js';
import { atLeast } from '../numbers.js';
import type { DebateState } from './state.js';

export const inWords = (findings: readonly Finding[]): string =>
  findings.map(({ rule, where }) => `${rule} at ${where}`).join(', ');

/** The findings that veto by themselves. */
export const vetoing = ({ setup }: DebateState, findings: readonly Finding[]): Finding[] =>
  findings.filter(({ confidence }) => atLeast(confidence, setup.limits.veto));
