import type { OpenSessionBody, Tier } from '../../src/contracts/session.js';

type LaneBody = OpenSessionBody['lanes'][number];
type ScriptBody = Extract<LaneBody['adapter'], { kind: 'scripted' }>['script'];

/** Milliseconds between two steps that must be seen apart: generous, as reports of 5 to 40 ms become one. */
export const beat = 300;
/** A script's way to say nothing for an hour. */
export const silence: ScriptBody = [{ after_ms: 3_600_000, partial: 'too late' }];

export const scripted = (...script: ScriptBody) => ({ kind: 'scripted' as const, script });
export const lane = (lane_id: string, script: ScriptBody, over: Partial<LaneBody> = {}): LaneBody => ({
  lane_id,
  adapter: scripted(...script),
  ...over,
});
/** A lane whose one word is its final, `beats` after its dispatch. */
export const says = (lane_id: string, final: ScriptBody[number]['final'], beats = 0, over: Partial<LaneBody> = {}) =>
  lane(lane_id, [{ after_ms: beats * beat, final }], over);
export const silent = (lane_id: string, tier: Tier = 'silver') => lane(lane_id, silence, { tier });
export const fails = (lane_id: string, beats = 0) =>
  lane(lane_id, [{ after_ms: beats * beat, fail: { code: 'EAGENTDOWN', message: `${lane_id} broke` } }]);
export const external = (lane_id: string): LaneBody => ({ lane_id, adapter: { kind: 'external' } });

export const noEarlyExit = { early_exit: { enabled: false } };
