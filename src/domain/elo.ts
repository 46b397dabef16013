/** What a persona has before its first debate (details 2.3). */
export const firstElo = 1200;

/** Reputation as a factor of weight: clamp(elo / 1200, 0.5, 1.5) (spec 01 "Agreement and answers", 02 "Aggregation"). */
export const eloFactor = (elo: number): number => Math.min(1.5, Math.max(0.5, elo / firstElo));
