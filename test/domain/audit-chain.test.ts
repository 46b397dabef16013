import type { AuditFault, AuditHead, AuditReceipt, AuditRecord } from '../../src/contracts/audit.js';
import {
  checkChain,
  type ChainItem,
  type ChainSeal,
  genesisHash,
  hashedText,
  headText,
  linkRecord,
} from '../../src/domain/audit-chain.js';
import { sha256 } from '../../src/domain/sha256.js';

const chain = '00000000000000aa';
const signWith =
  (key: string) =>
  (hash: string): string =>
    sha256(`${key} ${hash}`);
const seal: ChainSeal = { hash: sha256, isSigned: (hash, signature) => signature === signWith('ours')(hash) };

/** A record that follows on `previous`. */
const record = (seq: number, previous: string, { key = 'ours', of = chain } = {}): AuditRecord =>
  linkRecord(
    {
      key: `k${seq}`,
      work_id: 'w',
      kind: 'debate',
      tenant: 'default',
      trace_id: null,
      type: 'debate.decided',
      data: { seq },
    },
    { chain: of, seq, at: '2026-11-20T10:00:00.000Z', previous },
    { hash: sha256, sign: signWith(key) },
  );

const chainOf = (length: number): AuditRecord[] => {
  const records: AuditRecord[] = [];
  for (let seq = 1; seq <= length; seq += 1) records.push(record(seq, records.at(-1)?.hash ?? genesisHash));
  return records;
};

const headOf = ({ seq, hash }: AuditRecord, key = 'ours'): AuditHead => {
  const head = { chain, seq, hash, at: '2026-11-20T10:00:01.000Z', signature: '' };
  return { ...head, signature: signWith(key)(sha256(headText(head))) };
};

const [r1, r2, r3, r4, r5] = chainOf(5) as [AuditRecord, AuditRecord, AuditRecord, AuditRecord, AuditRecord];
const head = headOf(r5);

const check = async (
  items: readonly (AuditRecord | string | { omitted: { from: number; hashes: string[] } })[],
  over: { head?: AuditHead | { unreadable: string } | null; anchors?: AuditReceipt[] } = {},
): Promise<[AuditFault['fault'], number | null, number | null][]> => {
  const placed = items.map((item, index): ChainItem => {
    const line = index + 1;
    if (typeof item === 'string') return { line, unreadable: item };
    return 'omitted' in item ? { line, ...item } : { line, record: item };
  });
  const { faults } = await checkChain(placed, { chain, seal, head, ...over });
  return faults.map(({ fault, seq, line }) => [fault, seq, line]);
};

const edited = (of: AuditRecord): AuditRecord => ({ ...of, data: { seq: 'other' } });
/** Edited by somebody who also made the hash again, but has not the key. */
const rehashed = (of: AuditRecord): AuditRecord => ({ ...edited(of), hash: sha256(hashedText(edited(of))) });

describe('a chain', () => {
  test('that is whole has no faults, and says how far it goes', async () => {
    const report = await checkChain(
      [r1, r2, r3, r4, r5].map((item, index) => ({ line: index + 1, record: item })),
      { chain, seal, head },
    );
    expect(report).toEqual({ chain, records: 5, lastSeq: 5, lastHash: r5.hash, faults: [] });
  });

  test('may be a record ahead of its head, whose writer died in between', async () => {
    expect(await check([r1, r2, r3], { head: headOf(r2) })).toEqual([]);
  });

  test('without a record and a head is a chain that has not begun', async () => {
    expect(await check([], { head: null })).toEqual([]);
  });

  type Found = [AuditFault['fault'], number | null, number | null][];
  test.each<[string, Parameters<typeof check>[0], Found]>([
    ['a removed record', [r1, r2, r4, r5], [['removed', 3, null]]],
    ['the first removed', [r2, r3, r4, r5], [['removed', 1, null]]],
    ['a removed range, told once', [r1, r5], [['removed', 2, null]]],
    [
      'two removed ranges',
      [r1, r3, r5],
      [
        ['removed', 2, null],
        ['removed', 4, null],
      ],
    ],
    ['a changed record, and not the one after it', [r1, r2, edited(r3), r4, r5], [['changed', 3, 3]]],
    ['the last one changed', [r1, r2, r3, r4, edited(r5)], [['changed', 5, 5]]],
    ['a changed number', [r1, r2, { ...r3, seq: 99 }, r4, r5], [['changed', 3, 3]]],
    ['a line that is no record any more', [r1, r2, 'x', r4, r5], [['changed', 3, 3]]],
    ['the last line no record any more', [r1, r2, r3, r4, 'x'], [['changed', 5, 5]]],
    ['a line that somebody put in', [r1, r2, 'x', r3, r4, r5], [['changed', null, 3]]],
    [
      'one removed, the next changed',
      [r1, r2, edited(r4), r5],
      [
        ['changed', 4, 3],
        ['removed', 3, null],
      ],
    ],
    ['changed with a new hash', [r1, r2, rehashed(r3), r4, r5], [['bad_signature', 3, 3]]],
    [
      'a record signed with another key',
      [r1, r2, record(3, r2.hash, { key: 'theirs' }), r4, r5],
      [['bad_signature', 3, 3]],
    ],
    [
      'a record of another chain',
      [r1, r2, record(3, r2.hash, { of: '00000000000000bb' }), r4, r5],
      [['bad_signature', 3, 3]],
    ],
    ['two exchanged', [r1, r3, r2, r4, r5], [['reordered', 2, 3]]],
    ['the first put last', [r2, r3, r4, r5, r1], [['reordered', 1, 5]]],
    ['one twice in a row', [r1, r2, r2, r3, r4, r5], [['duplicate', 2, 3]]],
    ['an old one again at the end', [r1, r2, r3, r4, r5, r1], [['duplicate', 1, 6]]],
    ['the last one cut off', [r1, r2, r3, r4], [['truncated', 5, null]]],
    ['everything cut off', [], [['truncated', 1, null]]],
    [
      'a gap and a cut',
      [r1, r3],
      [
        ['removed', 2, null],
        ['truncated', 4, null],
      ],
    ],
    [
      'a changed one and a cut',
      [r1, edited(r2)],
      [
        ['changed', 2, 2],
        ['truncated', 3, null],
      ],
    ],
  ])('with %s has the faults of just that', async (_, items, faults) => {
    expect(await check(items)).toEqual(faults);
  });

  test('that was continued twice from one place, both times with the key, does not link', async () => {
    const fork = record(4, r2.hash);
    expect(await check([r1, r2, r3, fork], { head: headOf(fork) })).toEqual([['changed', 4, 4]]);
  });

  test.each<[string, AuditHead | { unreadable: string } | null, Found]>([
    ['missing', null, [['truncated', null, null]]],
    ['unreadable', { unreadable: 'x' }, [['changed', null, null]]],
    ['signed with another key', headOf(r5, 'theirs'), [['bad_signature', 5, null]]],
    ['set back by hand', { ...headOf(r3), seq: 2, hash: r2.hash }, [['bad_signature', 2, null]]],
    ['of another last record', headOf({ ...r5, hash: r4.hash }), [['changed', 5, 5]]],
  ])('whose head is %s says so', async (_, other, faults) => {
    expect(await check([r1, r2, r3, r4, r5], { head: other })).toEqual(faults);
  });

  test('that was cut off together with an older head is found out by what is known of it elsewhere', async () => {
    const receipt = { chain, seq: 5, hash: r5.hash };
    expect(await check([r1, r2, r3], { head: headOf(r3) })).toEqual([]);
    expect(await check([r1, r2, r3], { head: headOf(r3), anchors: [receipt] })).toEqual([['truncated', 4, null]]);
    expect(await check([r1, r2, r3, r4, r5], { anchors: [{ ...receipt, hash: r1.hash }] })).toEqual([
      ['changed', 5, 5],
    ]);
  });
});

describe('an export', () => {
  const omitted = (from: number, ...records: AuditRecord[]) => ({
    omitted: { from, hashes: records.map(({ hash }) => hash) },
  });

  test('that shows some records links them by the hashes of the others', async () => {
    expect(await check([omitted(1, r1, r2), r3, omitted(4, r4, r5)])).toEqual([]);
  });

  test.each<[string, Parameters<typeof check>[0], [AuditFault['fault'], number | null, number | null][]]>([
    ['a hash left out', [omitted(1, r1), r3, omitted(4, r4, r5)], [['removed', 2, null]]],
    ['a hash exchanged', [omitted(1, r2, r1), r3, omitted(4, r4, r5)], [['changed', 3, 2]]],
    ['the last hash left out', [omitted(1, r1, r2), r3, omitted(4, r4)], [['truncated', 5, null]]],
    ['hashes in the wrong place', [r1, r2, r3, omitted(2, r2), r4, r5], [['reordered', 2, 4]]],
  ])('with %s has a fault', async (_, items, faults) => {
    expect(await check(items)).toEqual(faults);
  });
});
