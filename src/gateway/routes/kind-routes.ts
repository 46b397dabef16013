import type { z } from 'zod';
import type { FeedbackRequest } from '../../contracts/feedback.js';
import type { Kind, Started } from '../../contracts/work.js';
import type { SetupIdentity } from '../../domain/session/set-up-session.js';
import type { Call, FaultsInside, Ports } from '../route.js';
import type { CarriedState, FeedbackPort, WorkPort, WorkSetup, WorkStatus } from '../work-port.js';

/** Whose a piece of work is, and what it is in words. @throws ParleyError not_found, unavailable */
export type Owner = (params: { id: string }, ports: Ports) => Promise<{ tenant: string; what: string }>;

/** What sets one kind of work apart over HTTP; everything else is the same for all (spec 09). */
export interface KindRoutes<Body, Setup extends WorkSetup, Status extends WorkStatus, Answer extends Started> {
  kind: Kind;
  port: (ports: Ports) => WorkPort<Setup, Status>;
  body: z.ZodType<Body, unknown>;
  bodyExample: unknown;
  status: z.ZodType<Status, Status>;
  statusExample: Status;
  started: z.ZodType<Answer, Answer>;
  startedExample: Answer;
  /** Decides everything that depends on the operator. @throws ProblemError or ParleyError where it may not start */
  setUp(body: Body, identity: SetupIdentity, ports: Ports, call: Call): Setup;
  /** Where its bodies have parts that their schema leaves open. */
  faultsInside?: FaultsInside;
  /** The id that a body names; left out: its `id`. */
  idOf?(body: Body): string | undefined;
  /** The answer to a start, from what every kind says. */
  answer(common: Started, setup: Setup, ports: Ports): Answer;
  spanAttributes(setup: Setup): Record<string, string | number>;
  /**
   * The state that a fork begins with, from that of the checkpoint, the setup of the changed request, and what the old work is
   * by now.
   * @throws ParleyError wrong_state where it cannot be forked from there
   */
  fork(carried: CarriedState, setup: Setup, now: number, latest: Status): CarriedState;
  /** The body of the origin with the names of its parts, by which a change finds them, where a body may leave them out. */
  namedBody?(body: Body): Body;
  /** The body of a fork where it cannot have all of its origin's. */
  forkedBody?(body: Body, change: Record<string, unknown>): Body;
  /** What a fork of this kind does beside, for the documentation. */
  forkDescription?: string;
  /** Where it asks people: how it is answered, and what it asks now. */
  feedback?: (ports: Ports) => { port: FeedbackPort; openRequest(status: Status): FeedbackRequest | null };
  /**
   * Where what it did in the world can be taken back: why it cannot go on from a checkpoint with the state of then, with
   * `rollback` or without; null: it can.
   */
  restoreFault?(carried: CarriedState, status: Status, rollback: boolean): string | null;
  /** Why a rollback did not come to its end, in words; null: all was taken back. */
  rollbackFault?(status: Status): string | null;
  /** What no workflow knows of it and its status tells all the same. */
  enrich?(status: Status, ports: Ports): Promise<Status>;
  /** What a cancel does, for the documentation. */
  cancelDescription: string;
  /** Completes "cannot pause: " in the refusal, or how it is paused and resumed. */
  whyNoPause: string | Pausing;
}

/** How a kind of work is paused and resumed as a whole. */
export interface Pausing {
  description: Record<'pause' | 'resume', string>;
  /** @throws ParleyError not_found, wrong_state */
  act(verb: 'pause' | 'resume', id: string, ports: Ports): Promise<void>;
}

/** Starts one piece of work, of a new body or as a fork. */
export type Begin<Body, Setup, Answer> = (
  body: Body,
  start: {
    id: string;
    isRepeatable: boolean;
    /** Tells whether a second start with the id asks for the same. */
    hash: string;
    fork?: (setup: Setup) => CarriedState;
  },
  ports: Ports,
  call: Call,
) => Promise<{ answer: () => Answer; headers: Record<string, string>; isReplayed: boolean }>;
