import type { Caller } from '../contracts/access.js';
import { type Kind, workIdSchema } from '../contracts/work.js';
import { coordinatorAsks } from '../domain/coordinator/asks.js';
import { ParleyError } from '../domain/errors.js';
import { debateAsks, runAsks, teamAsks } from '../domain/inbox/asks-of.js';
import type { Asks } from '../domain/inbox/asks.js';
import { visibleTo } from './access.js';
import type { Ports } from './route.js';
import type { FeedbackPort } from './work-port.js';

/** A kind of work that asks people, as the inbox needs it. */
export interface AskingKind {
  kind: Kind;
  /** @throws ParleyError not_found, unavailable */
  asks(id: string): Promise<Asks>;
  port: FeedbackPort;
}

type AskingPorts = Pick<Ports, 'debates' | 'runs' | 'coordinators' | 'teams'>;

/** Every kind that asks people. One that is added here is in the inbox, over HTTP, in the CLI and on the page. */
export const askingKinds = ({ debates, runs, coordinators, teams }: AskingPorts): AskingKind[] => [
  { kind: 'debate', port: debates, asks: async (id) => debateAsks(await debates.status(id)) },
  { kind: 'run', port: runs, asks: async (id) => runAsks(await runs.status(id)) },
  { kind: 'coordinator', port: coordinators, asks: async (id) => coordinatorAsks(await coordinators.status(id)) },
  { kind: 'team', port: teams, asks: async (id) => teamAsks(await teams.status(id)) },
];

/** What the work with this id has asked, of whichever kind it is; null: there is none that asks people. @throws ParleyError unavailable */
export const askedOf = async (
  kinds: readonly AskingKind[],
  id: string,
): Promise<{ asking: AskingKind; asks: Asks } | null> => {
  if (!workIdSchema.safeParse(id).success) return null;
  // An id says nothing for sure of its kind: the one that it begins with is asked first.
  const likely = kinds.toSorted((a, b) => Number(id.startsWith(`${b.kind}-`)) - Number(id.startsWith(`${a.kind}-`)));
  for (const asking of likely) {
    try {
      return { asking, asks: await asking.asks(id) };
    } catch (error) {
      if (!(error instanceof ParleyError) || error.code !== 'not_found') throw error;
    }
  }
  return null;
};

/** Work that asks people, by its id; null: there is none that this caller may know of. @throws ParleyError unavailable */
export const findAsking = async (
  kinds: readonly AskingKind[],
  id: string,
  caller: Caller,
): Promise<{ asking: AskingKind; asks: Asks } | null> => {
  const found = await askedOf(kinds, id);
  return found && visibleTo(caller, found.asks.tenant) ? found : null;
};
