interface Arrived {
  at: number;
  endedAt: number;
  tokens: number;
}

/** The most that came in any window, both of whose ends count. */
export const mostInAnyWindow = (
  arrivals: readonly Arrived[],
  windowMs: number,
): { requests: number; tokens: number } => {
  const most = { requests: 0, tokens: 0 };
  let first = 0;
  let tokens = 0;
  arrivals.forEach((arrival, index) => {
    tokens += arrival.tokens;
    for (let oldest = arrivals[first]; oldest && oldest.at < arrival.at - windowMs; oldest = arrivals[first]) {
      tokens -= oldest.tokens;
      first += 1;
    }
    most.requests = Math.max(most.requests, index - first + 1);
    most.tokens = Math.max(most.tokens, tokens);
  });
  return most;
};

/** The most that were under way at a time. */
export const mostAtOnce = (arrivals: readonly Arrived[]): number =>
  arrivals.reduce(
    (most, { at }) => Math.max(most, arrivals.filter((each) => each.at <= at && each.endedAt > at).length),
    0,
  );
