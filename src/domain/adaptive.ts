import type { Reconciliation } from '../contracts/session.js';
import { above } from './numbers.js';

export interface Needs {
  reconcileTimeoutMs: number;
  /** 0–1. */
  qualityNeed: number;
  /** 0–1. */
  costSensitivity: number;
  /** Different personas, clones not counted. */
  personas: number;
}

/** The adaptive choice of details 1.4: the first rule that holds; every bound itself is not yet past it. */
export const chooseReconciliation = (needs: Needs): Reconciliation | 'arbiter' => {
  if (needs.reconcileTimeoutMs < 10_000) return 'first_win';
  if (above(needs.qualityNeed, 0.8)) return 'consensus';
  if (above(needs.costSensitivity, 0.7)) return 'weighted_merge';
  if (needs.personas > 3) return 'arbiter';
  return 'first_win';
};
