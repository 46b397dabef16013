import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

interface Lane {
  text: string;
  state: string;
  attempt: number;
}
interface Model {
  lanes: Map<string, Lane>;
  agreement: number;
  course: number[];
}
interface PageModel {
  createModel: () => Model;
  takePartial: (model: Model, partial: { lane_id: string; attempt: number; offset: number; text: string }) => boolean;
  takeEvent: (model: Model, event: { id: number; event: string; data: unknown }) => void;
  announcement: (model: Model) => string;
}
interface PageApi {
  createEventParser: () => (text: string) => { event: string; id: number; data: string }[];
}

// The page is plain JavaScript for browsers: its pure modules load in Node as they are.
const load = async <T>(file: string): Promise<T> => (await import(pathToFileURL(resolve('src/page', file)).href)) as T;

let page: PageModel;
let api: PageApi;
beforeAll(async () => {
  page = await load('session-model.js');
  api = await load('api.js');
});

const says = (partials: [attempt: number, offset: number, text: string][]): { text: string; taken: boolean[] } => {
  const model = page.createModel();
  const taken = partials.map(([attempt, offset, text]) =>
    page.takePartial(model, { lane_id: 'a', attempt, offset, text }),
  );
  return { text: model.lanes.get('a')!.text, taken };
};

describe('the text of a lane on the page', () => {
  test.each<[string, [number, number, string][], string]>([
    [
      'grows',
      [
        [1, 0, 'blue '],
        [1, 5, 'ink'],
      ],
      'blue ink',
    ],
    [
      'repeats nothing after a reconnect',
      [
        [1, 0, 'blue '],
        [1, 0, 'blue ink'],
      ],
      'blue ink',
    ],
    [
      'ignores what it knows',
      [
        [1, 0, 'blue ink'],
        [1, 2, 'ue'],
      ],
      'blue ink',
    ],
    [
      'starts again with a new attempt',
      [
        [1, 0, 'green'],
        [2, 0, 'blue'],
      ],
      'blue',
    ],
    [
      'ignores an attempt that was given up',
      [
        [2, 0, 'blue'],
        [1, 0, 'green'],
      ],
      'blue',
    ],
  ])('%s', (_, partials, text) => {
    expect(says(partials).text).toBe(text);
  });

  test('asks for what is missing once, and then lives with the hole', () => {
    expect(
      says([
        [1, 0, 'blue'],
        [1, 9, 'ink'],
        [1, 9, 'ink'],
      ]),
    ).toEqual({ text: 'blueink', taken: [true, false, true] });
  });

  test('is the answer once the lane has ended, whatever comes late', () => {
    const model = page.createModel();
    const data = { lane_id: 'a', to: 'FINALIZED', tier: 'gold', attempt: 1, answer: 'blue' };
    page.takeEvent(model, { id: 1, event: 'lane', data });
    page.takePartial(model, { lane_id: 'a', attempt: 1, offset: 0, text: 'late' });
    expect(model.lanes.get('a')).toMatchObject({ text: 'blue', state: 'FINALIZED' });
  });
});

describe('the parser of server-sent events', () => {
  const stream =
    ': hello\nretry: 20\n\nid: 7\r\nevent: state\r\ndata: {"a":\r\ndata: 1}\r\n\r\nevent: end\ndata: {}\n\n';
  const whole = [
    { event: 'state', id: 7, data: '{"a":\n1}' },
    { event: 'end', id: 0, data: '{}' },
  ];

  test.each([1, 2, 3, 7, stream.length])('gives the same messages for pieces of %i characters', (size) => {
    const feed = api.createEventParser();
    const pieces = stream.match(new RegExp(`[^]{1,${size}}`, 'g'))!;
    expect(pieces.flatMap((piece) => feed(piece))).toEqual(whole);
  });
});

describe('what a screen reader is told', () => {
  test('names provisional, withdrawal and final, never a single word of a stream', () => {
    const model = page.createModel();
    const told = [page.announcement(model)];
    page.takePartial(model, { lane_id: 'a', attempt: 1, offset: 0, text: 'blue' });
    told.push(page.announcement(model));
    page.takeEvent(model, {
      id: 1,
      event: 'provisional',
      data: { number: 1, answer: 'blue', agreement: 0.67, lanes: [] },
    });
    told.push(page.announcement(model));
    page.takeEvent(model, {
      id: 2,
      event: 'revision',
      data: { replaces: 1, because: 'agreement_fell', agreement: 0.5 },
    });
    told.push(page.announcement(model));
    page.takeEvent(model, { id: 3, event: 'final', data: { answer: 'blue', agreement: 1 } });
    told.push(page.announcement(model));
    expect(told.map((text) => text.replaceAll('\u202f', ' '))).toEqual([
      'The session is init.',
      'The session is init.',
      'Provisional answer, 67 % agreement: blue',
      'The provisional answer was withdrawn: agreement fell.',
      'Final answer, 100 % agreement: blue',
    ]);
  });
});
