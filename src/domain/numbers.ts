/** Boundary comparisons are inclusive, with this tolerance (details 6.1): weighted sums of decimals miss by a hair. */
export const epsilon = 1e-9;
export const atLeast = (value: number, bound: number): boolean => value >= bound - epsilon;
export const above = (value: number, bound: number): boolean => value > bound + epsilon;
export const equal = (a: number, b: number): boolean => Math.abs(a - b) <= epsilon;
