import type { RatingTable } from '../../contracts/memory.js';
import { eloFactor } from '../elo.js';
import { openLane } from '../lane.js';
import { note, type SessionDraft } from './draft.js';
import type { LaneSetup } from './setup.js';

/** Memory is asked before the lanes go out: a weight is then the same for every replay, whatever is stored meanwhile. */
export const askForRatings = ({ session, effects }: SessionDraft): void => {
  const { lanes, escalation } = session.setup;
  const personas = [...lanes, ...(escalation ? [escalation] : [])].map(({ personaId }) => personaId);
  effects.push({ type: 'load_ratings', personas: [...new Set(personas)] });
};

/**
 * Multiplies every lane's weight by its persona's reputation (spec 01 "Agreement and answers"). A persona of whom nothing is
 * known, and everyone when memory could not be read, keeps the weight of the request.
 */
export const weigh = (
  draft: SessionDraft,
  { ratings, message }: { ratings: RatingTable | null; message?: string },
): void => {
  const { session } = draft;
  if (ratings === null)
    return note(draft, `memory could not be read, so that every persona counts the same: ${message ?? ''}`);
  const weighed = (lane: LaneSetup): LaneSetup => {
    const known = ratings[lane.personaId];
    return known === undefined ? lane : { ...lane, weight: lane.weight * eloFactor(known.elo) };
  };
  const { lanes, escalation } = session.setup;
  session.setup = { ...session.setup, lanes: lanes.map(weighed), escalation: escalation && weighed(escalation) };
  session.lanes = session.setup.lanes.map((setup, order) => {
    const lane = session.lanes[order];
    return lane?.isKept ? { ...lane, setup } : openLane(setup, order);
  });
};
