/** What a limit of time cannot be, with what its schema says of each. */
export const wrongSeconds: readonly (readonly [value: unknown, why: string])[] = [
  [0, 'Too small'],
  [-1, 'Too small'],
  [1.5, 'expected int'],
  ['1', 'expected number'],
  [31_536_001, 'Too big'],
  [null, 'expected number'],
];
