import type { Severity } from '../../contracts/finding.js';

/** What a rule is, apart from how it looks: the list of docs/security-rules.md. */
export interface Rule {
  readonly id: string;
  readonly title: string;
  readonly severity: Severity;
  /** 0 to 1: security is against the plan with at least this; from 0.9 on that is a veto (spec 02 "Decision"). */
  readonly confidence: number;
  readonly why: string;
  readonly advice: string;
}
