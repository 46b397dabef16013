import { createHash } from 'node:crypto';
import { sha256 } from '../../src/domain/sha256.js';

describe('sha256', () => {
  test.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
  ])('of %j is the published vector', (text, digest) => {
    expect(sha256(text)).toBe(digest);
  });

  test('of a million "a" is the published vector', () => {
    expect(sha256('a'.repeat(1_000_000))).toBe('cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0');
  });

  test('agrees with the platform at every length around a block', () => {
    for (let length = 0; length < 200; length += 1) {
      const text = 'x'.repeat(length);
      expect(sha256(text)).toBe(createHash('sha256').update(text).digest('hex'));
    }
  });

  test.each(['é', 'Ünïcödé', '日本語', '🙂🙃', 'a\uD800b', '\uDC00', 'x\uD83D'])('reads %j as UTF-8', (text) => {
    expect(sha256(text)).toBe(createHash('sha256').update(new TextEncoder().encode(text)).digest('hex'));
  });
});
