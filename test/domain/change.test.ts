import type { Json } from '../../src/contracts/frames.js';
import { changedRequest, differencesOf, mostDifferences } from '../../src/domain/change.js';

const json = (text: string): Json => JSON.parse(text) as Json;

describe('a change of a request', () => {
  // Every example of RFC 7396, appendix A.
  test.each<[string, string, string]>([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ])('of %s by %s gives %s', (request, change, changed) => {
    expect(changedRequest(json(request), json(change))).toEqual(json(changed));
  });

  const lanes = '{"lanes":[{"lane_id":"a","weight":1},{"lane_id":"b","persona":{"persona_id":"p","tone":"dry"}}]}';
  test.each<[string, string, string, string]>([
    [
      'merges named things in the old order',
      lanes,
      '{"lanes":[{"lane_id":"b","persona":{"tone":null,"instructions":"x"}},{"lane_id":"a","weight":2}]}',
      '{"lanes":[{"lane_id":"a","weight":2},{"lane_id":"b","persona":{"persona_id":"p","instructions":"x"}}]}',
    ],
    [
      'adds what is new at the end, without its nulls',
      lanes,
      '{"lanes":[{"lane_id":"c","tier":null}]}',
      `${lanes.slice(0, -2)},{"lane_id":"c"}]}`,
    ],
    ['empties a list', lanes, '{"lanes":[]}', '{"lanes":[]}'],
    ['fills an empty list', '{"lanes":[]}', lanes, lanes],
    ['replaces a list by one without names', lanes, '{"lanes":[{"weight":3}]}', '{"lanes":[{"weight":3}]}'],
    [
      'replaces a list whose names repeat',
      '{"tasks":[{"agent_id":"a"},{"agent_id":"a"}]}',
      '{"tasks":[{"agent_id":"a","x":1}]}',
      '{"tasks":[{"agent_id":"a","x":1}]}',
    ],
    ['replaces a list of values', '{"labels":["a","b"]}', '{"labels":["c",null]}', '{"labels":["c",null]}'],
    [
      'names tasks by task_id, not by who does them',
      '{"tasks":[{"task_id":"1","agent_id":"a"},{"task_id":"2","agent_id":"b"}]}',
      '{"tasks":[{"task_id":"2","agent_id":"a"}]}',
      '{"tasks":[{"task_id":"1","agent_id":"a"},{"task_id":"2","agent_id":"a"}]}',
    ],
    ['names agents', '{"a":[{"agent_id":"a"}]}', '{"a":[{"agent_id":"a","x":1}]}', '{"a":[{"agent_id":"a","x":1}]}'],
    ['names criteria', '{"r":[{"name":"a","w":1}]}', '{"r":[{"name":"a","w":2}]}', '{"r":[{"name":"a","w":2}]}'],
    [
      'names personas where there are no lanes',
      '{"p":[{"persona_id":"a"},{"persona_id":"b"}]}',
      '{"p":[{"persona_id":"b","x":1}]}',
      '{"p":[{"persona_id":"a"},{"persona_id":"b","x":1}]}',
    ],
    [
      'tells lanes of one persona apart',
      '{"l":[{"lane_id":"1","persona_id":"a"},{"lane_id":"2","persona_id":"a"}]}',
      '{"l":[{"lane_id":"2","persona_id":"b"}]}',
      '{"l":[{"lane_id":"1","persona_id":"a"},{"lane_id":"2","persona_id":"b"}]}',
    ],
  ])('%s', (_, request, change, changed) => {
    expect(changedRequest(json(request), json(change))).toEqual(json(changed));
  });

  test('takes names that objects have from birth as names like any other', () => {
    const change = json('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":null}');
    const changed = changedRequest(json('{"a":1}'), change);
    expect(JSON.stringify(changed)).toBe(
      '{"a":1,"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    );
    expect(Object.getPrototypeOf(changed)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(changedRequest(json('{"__proto__":1,"a":2}'), json('{"__proto__":null}'))).toEqual({ a: 2 });
  });

  test('leaves what it was given as it was', () => {
    const [request, change] = [json(lanes), json('{"lanes":[{"lane_id":"b","persona":null}],"x":{"y":1}}')];
    const before = JSON.stringify([request, change]);
    changedRequest(request, change);
    expect(JSON.stringify([request, change])).toBe(before);
  });

  test('that says nothing changes nothing', () => {
    expect(changedRequest(json(lanes), {})).toEqual(json(lanes));
  });
});

describe('the differences of two documents', () => {
  test.each<[string, string, [string, unknown, unknown][]]>([
    ['{"a":1}', '{"a":1}', []],
    ['1', '2', [['', 1, 2]]],
    ['{"a":null}', '{}', [['a', null, undefined]]],
    ['{"policy":{"threshold":0.5}}', '{"policy":{"threshold":0.6}}', [['policy.threshold', 0.5, 0.6]]],
    ['{"a":{"b":1}}', '{"a":[1]}', [['a', { b: 1 }, [1]]]],
    ['{"a":{}}', '{"a":{"b":{"c":1}}}', [['a.b', undefined, { c: 1 }]]],
    ['{"tasks":[1,2]}', '{"tasks":[1,2,3]}', [['tasks[2]', undefined, 3]]],
    ['[[1,2]]', '[[1]]', [['[0][1]', 2, undefined]]],
    [
      '{"a b":1,"2":1,"":1}',
      '{}',
      [
        ['["2"]', 1, undefined],
        ['["a b"]', 1, undefined],
        ['[""]', 1, undefined],
      ],
    ],
    [
      '{"lanes":[{"lane_id":"a"},{"lane_id":"b","persona":{"instructions":"x"}}]}',
      '{"lanes":[{"lane_id":"b","persona":{"instructions":"y"}},{"lane_id":"c]"}]}',
      [
        ['lanes[a]', { lane_id: 'a' }, undefined],
        ['lanes[b].persona.instructions', 'x', 'y'],
        ['lanes["c]"]', undefined, { lane_id: 'c]' }],
      ],
    ],
    ['{"lanes":[]}', '{"lanes":[{"lane_id":"a"}]}', [['lanes[a]', undefined, { lane_id: 'a' }]]],
    ['{"l":[]}', '{"l":[]}', []],
    ['{"runs":[{"work_id":"1"},{"work_id":"2"}]}', '{"runs":[{"work_id":"2"},{"work_id":"1"}]}', []],
    [
      '{"constructor":{"x":1}}',
      '{"__proto__":2}',
      [
        ['constructor', { x: 1 }, undefined],
        ['__proto__', undefined, 2],
      ],
    ],
  ])('%s and %s', (a, b, expected) => {
    const differences = expected.map(([path, left, right]) => ({ path, a: left, b: right }));
    expect(differencesOf(json(a), json(b))).toEqual({ differences, more: 0 });
  });

  test('beyond a thousand are counted', () => {
    const many = Object.fromEntries(Array.from({ length: mostDifferences + 5 }, (_, index) => [`m${index}`, index]));
    const { differences, more } = differencesOf(many, {});
    expect([differences.length, more]).toEqual([mostDifferences, 5]);
    expect(differences.at(-1)).toEqual({ path: `m${mostDifferences - 1}`, a: mostDifferences - 1, b: undefined });
  });

  test('between a request and its change are what the change says', () => {
    const request = json('{"prompt":"p","lanes":[{"lane_id":"a"},{"lane_id":"b","weight":1}]}');
    const changed = changedRequest(request, json('{"lanes":[{"lane_id":"b","weight":2}]}'));
    expect(differencesOf(request, changed).differences).toEqual([{ path: 'lanes[b].weight', a: 1, b: 2 }]);
  });
});
