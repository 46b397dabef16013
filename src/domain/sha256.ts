/**
 * SHA-256 in plain TypeScript: fragments from outside are verified inside workflows, where `node:crypto` is out of reach.
 * The constants and rounds are those of FIPS 180-4.
 */
const roundConstants = new Uint32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]);
const initialState = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/** UTF-8 with the padding of FIPS 180-4; a lone surrogate becomes U+FFFD, as in TextEncoder. */
const paddedBytes = (text: string): Uint8Array => {
  // Three bytes hold any UTF-16 unit; 72 more hold the 0x80 mark, the zeros and the length.
  const room = new Uint8Array(text.length * 3 + 72);
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    let point = text.codePointAt(index) ?? 0xfffd;
    if (point >= 0xd800 && point <= 0xdfff) point = 0xfffd;
    if (point < 0x80) {
      room[length++] = point;
    } else if (point < 0x800) {
      room[length++] = 0xc0 | (point >>> 6);
      room[length++] = 0x80 | (point & 0x3f);
    } else if (point < 0x10000) {
      room[length++] = 0xe0 | (point >>> 12);
      room[length++] = 0x80 | ((point >>> 6) & 0x3f);
      room[length++] = 0x80 | (point & 0x3f);
    } else {
      room[length++] = 0xf0 | (point >>> 18);
      room[length++] = 0x80 | ((point >>> 12) & 0x3f);
      room[length++] = 0x80 | ((point >>> 6) & 0x3f);
      room[length++] = 0x80 | (point & 0x3f);
      index += 1;
    }
  }
  room[length] = 0x80;
  const padded = Math.ceil((length + 9) / 64) * 64;
  const view = new DataView(room.buffer);
  view.setUint32(padded - 8, Math.floor(length / 0x20000000));
  view.setUint32(padded - 4, (length << 3) >>> 0);
  return room.subarray(0, padded);
};

/** @returns the sha256 of `text` as UTF-8, in 64 lower-case hexadecimal digits. */
export const sha256 = (text: string): string => {
  const bytes = paddedBytes(text);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const state = new Uint32Array(initialState);
  const schedule = new Uint32Array(64);
  const at = (words: Uint32Array, index: number): number => words[index] as number;
  for (let block = 0; block < bytes.length; block += 64) {
    for (let index = 0; index < 16; index += 1) schedule[index] = view.getUint32(block + index * 4);
    for (let index = 16; index < 64; index += 1) {
      const early = at(schedule, index - 15);
      const recent = at(schedule, index - 2);
      const small0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
      const small1 = rotate(recent, 17) ^ rotate(recent, 19) ^ (recent >>> 10);
      schedule[index] = at(schedule, index - 16) + small0 + at(schedule, index - 7) + small1;
    }
    let [a, b, c, d, e, f, g, h] = Array.from(state) as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    for (let index = 0; index < 64; index += 1) {
      const big1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const choose = (e & f) ^ (~e & g);
      const first = (h + big1 + choose + at(roundConstants, index) + at(schedule, index)) | 0;
      const big0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
      const majority = (a & b) ^ (a & c) ^ (b & c);
      // One by one: swapping eight values through an array takes many times as long.
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + big0 + majority) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((word, index) => {
      state[index] = at(state, index) + word;
    });
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('');
};
