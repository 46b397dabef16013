import type { AnyRoute } from '../route.js';
import { healthz, readyz } from './health.js';
import {
  cancelSession,
  getSession,
  openSession,
  pauseSession,
  postFrames,
  resumeSession,
  sessionEvents,
} from './sessions.js';
import { listSessions, listWork } from './work.js';

/** The whole API: what is mounted and what is documented. */
export const routes: readonly AnyRoute[] = [
  openSession,
  listSessions,
  getSession,
  sessionEvents,
  cancelSession,
  pauseSession,
  resumeSession,
  postFrames,
  listWork,
  healthz,
  readyz,
];
