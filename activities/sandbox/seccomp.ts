/** Calls of a processor that are refused, as ranges of their numbers. */
interface Refused {
  /** As linux/audit.h names it. */
  architecture: number;
  ranges: readonly (readonly [first: number, last: number])[];
}

/**
 * add_key, request_key and keyctl: keys in the kernel belong to users and not to namespaces, so that a command could read
 * those of the worker. With each processor comes the smaller one that it can also be; numbers from 2^30 are x32's.
 */
const refused: Partial<Record<NodeJS.Architecture, readonly Refused[]>> = {
  x64: [
    {
      architecture: 0xc000003e,
      ranges: [
        [248, 250],
        [0x40000000, 0xffffffff],
      ],
    },
    { architecture: 0x40000003, ranges: [[286, 288]] },
  ],
  arm64: [
    { architecture: 0xc00000b7, ranges: [[217, 219]] },
    { architecture: 0x40000028, ranges: [[309, 311]] },
  ],
};

const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const isEqual = (value: number, then: number, otherwise: number): Instruction => [0x15, then, otherwise, value];
const isAtLeast = (value: number, then: number, otherwise: number): Instruction => [0x35, then, otherwise, value];
const isAbove = (value: number, then: number, otherwise: number): Instruction => [0x25, then, otherwise, value];
const allow: Instruction = [0x06, 0, 0, 0x7fff0000];
/** As if the kernel did not have the call: programs go on without it. */
const refuse: Instruction = [0x06, 0, 0, 0x00050000 + 38];

/** Code, how far to jump when it holds and when not, operand (linux/filter.h). */
type Instruction = readonly [code: number, then: number, otherwise: number, operand: number];

/**
 * The filter of system calls that bwrap gives to a command; null on processors whose numbers are not known here. What the
 * namespaces forbid anyway is not repeated.
 */
export const systemCallFilter = (processor: NodeJS.Architecture = process.arch): Buffer | null => {
  const program = refused[processor]?.flatMap(({ architecture, ranges }): Instruction[] => {
    const checks = ranges.flatMap(([first, last]): Instruction[] => [
      isAtLeast(first, 0, 2),
      isAbove(last, 1, 0),
      refuse,
    ]);
    return [isEqual(architecture, 0, checks.length + 2), load(0), ...checks, allow];
  });
  if (program === undefined) return null;
  const blocks = [load(4), ...program, refuse];
  const bytes = Buffer.alloc(blocks.length * 8);
  blocks.forEach(([code, then, otherwise, operand], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(then, index * 8 + 2);
    bytes.writeUInt8(otherwise, index * 8 + 3);
    bytes.writeUInt32LE(operand, index * 8 + 4);
  });
  return bytes;
};
