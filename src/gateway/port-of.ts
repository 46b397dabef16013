import type { Kind } from '../contracts/work.js';
import { ProblemError } from './problem.js';
import type { Ports } from './route.js';
import type { EventSource } from './work-port.js';

/** Who tells of one kind of work. @throws ProblemError not_found for a kind that is not here yet */
export const portOf = (kind: Kind, ports: Ports): EventSource => {
  const { sessions, debates, fanOuts, refinements, teams, runs, coordinators } = ports;
  const all: EventSource[] = [sessions, debates, fanOuts, refinements, teams, runs, coordinators];
  const found = all.find((port) => port.kind === kind);
  if (found) return found;
  throw new ProblemError('not_found', `There is no work of the kind ${kind} in this version.`);
};
