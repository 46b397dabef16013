/** The weight that an `Accept` gives to a type, 0 to 1; the most exact range that fits it counts. */
const weightOf = (ranges: readonly { range: string; weight: number }[], type: string): number => {
  const fitting = [type, `${type.split('/')[0]}/*`, '*/*'];
  for (const range of fitting) {
    const found = ranges.find((each) => each.range === range);
    if (found) return found.weight;
  }
  return 0;
};

/** Whether who sends this `Accept` would rather have markdown than JSON; who does not care gets JSON. */
export const acceptsMarkdown = (accept: string | undefined): boolean => {
  if (accept === undefined) return false;
  const ranges = accept.split(',').map((part) => {
    const [range = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    const weight = quality === undefined ? 1 : Number(quality.slice(2));
    return { range, weight: Number.isFinite(weight) ? weight : 0 };
  });
  return weightOf(ranges, 'text/markdown') > weightOf(ranges, 'application/json');
};
