import type { Frame } from '../../../src/contracts/frames.js';
import { agentsOf, allOf, ask, type AdapterInput, listening, requestOf } from './agents.js';
import { createManualClock } from './manual-clock.js';

type Script = Extract<AdapterInput, { kind: 'scripted' }>['script'];

const play = async (
  script: Script,
  given: { callsBefore?: number; diversitySeed?: number; prompt?: string } = {},
  noise: { seed?: number; jitter_ms?: number } = {},
) => {
  const clock = createManualClock();
  const agents = agentsOf({ clock });
  const { context, controls, usages, controller } = listening();
  const said: { at: number; frame: Frame }[] = [];
  const heard: { at: number; status: string }[] = [];
  const playing = (async () => {
    const onControl: typeof context.onControl = (frame) => {
      context.onControl(frame);
      heard.push({ at: clock.now(), status: frame.status });
    };
    const frames = await agents.open(requestOf({ kind: 'scripted', script, ...noise }, given), {
      ...context,
      onControl,
    });
    for await (const frame of frames) said.push({ at: clock.now(), frame });
    return 'ended' as const;
  })();
  playing.catch(() => {});
  await clock.advanceBy(1_000_000);
  return { said, frames: said.map(({ frame }) => frame), heard, controls, usages, playing, controller };
};

const shortly = (frames: readonly Frame[]): string[] =>
  frames.map((frame) => {
    if (frame.type === 'partial') return `${frame.msg_seq}.${frame.frag_seq}${frame.last ? '' : '+'} ${frame.text}`;
    if (frame.type === 'final') return `${frame.msg_seq} final ${frame.text ?? JSON.stringify(frame.json)}`;
    return frame.type === 'fail' ? `fail ${frame.code}` : `control ${frame.status}`;
  });

describe('a script', () => {
  test('counts each time from the entry before', async () => {
    const { said, heard } = await play([
      { after_ms: 10, partial: 'bl' },
      { after_ms: 20, control: { status: 'PAUSE' } },
      { after_ms: 30, control: { status: 'READY' } },
      { after_ms: 40, final: 'blue' },
    ]);
    expect(said.map(({ at, frame }) => [at, frame.type])).toEqual([
      [10, 'partial'],
      [100, 'final'],
    ]);
    expect(heard).toEqual([
      { at: 30, status: 'PAUSE' },
      { at: 60, status: 'READY' },
    ]);
  });

  test.each<[string, Script, string[]]>([
    ['messages in one piece', [{ partial: 'a' }, { partial: 'b' }, { final: 'ab' }], ['1.0 a', '2.0 b', '3 final ab']],
    ['an answer in JSON', [{ final: { colour: 'blue' } }], ['1 final {"colour":"blue"}']],
    ['an answer that is null', [{ final: null }], ['1 final null']],
    [
      'fragments up to the last',
      [
        { partial: 'a', last: false },
        { partial: 'b', last: false },
        { partial: 'c' },
        { partial: 'd' },
        { final: 'x' },
      ],
      ['1.0+ a', '1.1+ b', '1.2 c', '2.0 d', '3 final x'],
    ],
    [
      'messages out of order',
      [{ msg_seq: 2, partial: 'b' }, { msg_seq: 1, partial: 'a' }, { final: 'ab' }],
      ['2.0 b', '1.0 a', '3 final ab'],
    ],
    [
      'a message left out',
      [{ partial: 'a' }, { msg_seq: 3, partial: 'c' }, { partial: 'd' }, { final: 'x' }],
      ['1.0 a', '3.0 c', '4.0 d', '5 final x'],
    ],
    [
      'a fragment left out',
      [{ partial: 'a', last: false }, { frag_seq: 2, partial: 'c' }, { partial: 'd' }, { final: 'x' }],
      ['1.0+ a', '1.2 c', '2.0 d', '3 final x'],
    ],
    [
      'the last fragment first',
      [{ frag_seq: 1, partial: 'b' }, { frag_seq: 0, last: false, partial: 'a' }, { final: 'x' }],
      ['1.1 b', '1.0+ a', '2 final x'],
    ],
    ['an entry repeated', [{ partial: 'a', repeat: 3 }, { final: 'x' }], ['1.0 a', '2.0 a', '3.0 a', '4 final x']],
    ['a failure', [{ partial: 'a' }, { fail: { code: 'EAGENTDOWN' } }], ['1.0 a', 'fail EAGENTDOWN']],
    ['a refusal behind text', [{ partial: 'a' }, { dispatch_err: true }], ['1.0 a', 'fail EAGENTDOWN']],
  ])('numbers %s', async (_, script, expected) => {
    expect(shortly((await play(script)).frames)).toEqual(expected);
  });

  const calls: Script = [
    { partial: 'a' },
    { fail: {} },
    { final: 'first' },
    { final: 'twice', repeat: 2 },
    { partial: 'la' },
    { final: 'last' },
    { control: { status: 'DRAINING' } },
  ];
  test.each([
    [0, ['1.0 a', 'fail EAGENTDOWN']],
    [1, ['1 final first']],
    [2, ['1 final twice']],
    [3, ['1 final twice']],
    [4, ['1.0 la', '2 final last']],
    [5, ['1.0 la', '2 final last']],
    [50, ['1.0 la', '2 final last']],
  ])('goes on where the %d calls before it ended, and repeats its last call', async (callsBefore, expected) => {
    expect(shortly((await play(calls, { callsBefore })).frames)).toEqual(expected);
  });

  test('falls silent when nothing ends it, until it is aborted', async () => {
    const { frames, playing, controller } = await play([{ partial: 'thinking' }]);
    expect(shortly(frames)).toEqual(['1.0 thinking']);
    controller.abort();
    await expect(playing).resolves.toBe('ended');
  });

  test('falls silent in a later call when only its earlier ones end', async () => {
    const { frames } = await play([{ fail: {} }, { partial: 'thinking' }], { callsBefore: 1 });
    expect(shortly(frames)).toEqual(['1.0 thinking']);
  });

  test.each<[string, Script[number]['dispatch_err'], string]>([
    ['in words', 'no route to it', 'no route to it'],
    ['as an object', { message: 'down' }, 'down'],
    ['without words', true, 'the script refuses the call (dispatch_err)'],
  ])('refuses the call when dispatch_err comes first, %s', async (_, dispatchErr, message) => {
    const { playing, heard } = await play([
      { control: { status: 'BUSY' } },
      { after_ms: 5, dispatch_err: dispatchErr },
      { final: 'later' },
    ]);
    await expect(playing).rejects.toMatchObject({ code: 'EAGENTDOWN', retryable: true, message });
    expect(heard).toEqual([{ at: 0, status: 'BUSY' }]);
  });

  test('says control frames at their time while nobody pulls', async () => {
    const clock = createManualClock();
    const { context, controls } = listening();
    const script: Script = [
      { after_ms: 10, partial: 'bl' },
      { after_ms: 10, control: { status: 'PAUSE', window: { max_parallel: 1 } } },
      { after_ms: 10, partial: 'ue' },
      { after_ms: 10, control: { status: 'READY' } },
      { after_ms: 10, final: 'blue' },
    ];
    const frames = await agentsOf({ clock }).open(requestOf({ kind: 'scripted', script }), context);
    await clock.advanceBy(1000);
    expect(controls).toEqual([
      { type: 'control', status: 'PAUSE', window: { max_parallel: 1 } },
      { type: 'control', status: 'READY' },
    ]);
    expect(shortly(await allOf(frames))).toEqual(['1.0 bl', '2.0 ue', '3 final blue']);
  });

  test('says a control frame before the text behind it, also at the same time', async () => {
    const clock = createManualClock();
    const order: string[] = [];
    const { context } = listening();
    const script: Script = [{ partial: 'a' }, { control: { status: 'BUSY' } }, { partial: 'b' }, { final: 'c' }];
    const frames = await agentsOf({ clock }).open(requestOf({ kind: 'scripted', script }), {
      ...context,
      onControl: ({ status }) => order.push(status),
    });
    for await (const frame of frames) order.push(frame.type === 'partial' ? frame.text : frame.type);
    expect(order).toEqual(['a', 'BUSY', 'b', 'final']);
  });

  test('says nothing more once it is left', async () => {
    const clock = createManualClock();
    const { context, controls } = listening();
    const script: Script = [{ partial: 'a' }, { after_ms: 10, control: { status: 'BUSY' } }, { final: 'b' }];
    const frames = await agentsOf({ clock }).open(requestOf({ kind: 'scripted', script }), context);
    for await (const frame of frames) if (frame.type === 'partial') break;
    await clock.advanceBy(1000);
    expect(controls).toEqual([]);
  });

  test('scatters its times repeatably by seed and diversity seed', async () => {
    const script: Script = [{ after_ms: 100, partial: 'a', repeat: 8 }, { final: 'x' }];
    const times = async (diversitySeed: number, seed: number): Promise<number[]> =>
      (await play(script, { diversitySeed }, { seed, jitter_ms: 50 })).said.map(({ at }) => at);
    const first = await times(1, 7);
    expect(await times(1, 7)).toEqual(first);
    expect(await times(2, 7)).not.toEqual(first);
    expect(await times(1, 8)).not.toEqual(first);
    const gaps = first.map((at, index) => at - (first[index - 1] ?? 0));
    expect(gaps.slice(0, 8).every((gap) => gap >= 100 && gap <= 150)).toBe(true);
  });

  test('estimates usage it does not give, without money', async () => {
    const { frames, usages } = await play([{ partial: 'abcdefgh' }, { final: 'abcd' }], { prompt: '12345' });
    expect(usages).toEqual([
      { tokens: 4, usd: 0 },
      { tokens: 3, usd: 0 },
    ]);
    expect(frames.at(-1)).toMatchObject({ usage: { tokens: 3, usd: 0 } });
  });

  test('uses the usage it gives from then on', async () => {
    const { frames, usages } = await play([{ partial: 'a', usage: { tokens: 40, usd: 0.5 } }, { final: 'b' }]);
    expect(usages).toEqual([
      { tokens: 40, usd: 0.5 },
      { tokens: 40, usd: 0.5 },
    ]);
    expect(frames.at(-1)).toMatchObject({ usage: { tokens: 40, usd: 0.5 } });
  });

  test('is refused when one call would play more than a million entries', async () => {
    const script: Script = Array.from({ length: 11 }, () => ({ partial: 'a', repeat: 100_000 }));
    await expect(agentsOf().open(requestOf({ kind: 'scripted', script }), listening().context)).rejects.toMatchObject({
      code: 'EPROTO',
      message: 'a call of this script plays 1100000 entries with their repeats; at most 1000000 are allowed',
    });
  });

  test('carries checksums as they are given', async () => {
    const { frames } = await play([{ partial: 'a', checksum: 'f'.repeat(64) }, { final: 'b' }]);
    expect(frames[0]).toMatchObject({ checksum: 'f'.repeat(64) });
  });
});

describe('an external lane', () => {
  test('cannot be called', async () => {
    await expect(agentsOf().open(requestOf({ kind: 'external' }), listening().context)).rejects.toMatchObject({
      code: 'EPROTO',
      message: 'lane a is external: it is fed by POST …/lanes/a/frames and cannot be called',
    });
  });
});

describe('adapters that are closed', () => {
  test('end the calls under way and take no new ones', async () => {
    const agents = agentsOf();
    const request = requestOf({ kind: 'scripted', script: [{ partial: 'thinking' }] });
    const frames = (await agents.open(request, listening().context))[Symbol.asyncIterator]();
    expect(await frames.next()).toMatchObject({ done: false });
    const silence = frames.next();
    await agents.close();
    await agents.close();
    expect(await silence).toEqual({ done: true, value: undefined });
    await expect(agents.open(request, listening().context)).rejects.toMatchObject({ code: 'EDRAINING' });
  });
});

describe('a final with calls of tools', () => {
  const look = { name: 'look', description: 'Looks.', parameters: {} };
  const final = {
    text: 'One moment.',
    tool_calls: [
      { name: 'look', arguments: { at: 'a' } },
      { id: 'b', name: 'look' },
    ],
  };
  const calls = [
    { callId: 'call_1', name: 'look', arguments: { at: 'a' } },
    { callId: 'b', name: 'look', arguments: {} },
  ];
  const finalOf = async (said: Script[number]['final'], tools: (typeof look)[] | undefined) => {
    const adapter: AdapterInput = { kind: 'scripted', script: [{ partial: 'On' }, { final: said }] };
    const { frames } = await ask(agentsOf(), adapter, tools === undefined ? {} : { tools });
    return frames.at(-1);
  };

  test('calls them where the request has tools, even none', async () => {
    expect(await finalOf(final, [look])).toMatchObject({ type: 'final', text: 'One moment.', calls });
    expect(await finalOf(final, [])).toMatchObject({ calls });
  });

  test('leaves what was said before where it has no text', async () => {
    const { tool_calls } = final;
    expect(await finalOf({ tool_calls }, [look])).not.toHaveProperty('text');
  });

  test('is an answer like any other where the request has no tools', async () => {
    const frame = await finalOf(final, undefined);
    expect(frame).toMatchObject({ json: final });
    expect(frame).not.toHaveProperty('calls');
  });

  test('is an answer where it has no member tool_calls', async () => {
    expect(await finalOf({ text: 'x' }, [look])).toMatchObject({ json: { text: 'x' } });
    expect(await finalOf(['tool_calls'], [look])).toMatchObject({ json: ['tool_calls'] });
  });

  test.each([[{ tool_calls: [] }], [{ tool_calls: 'look' }], [{ tool_calls: [{ name: 'look' }], more: 1 }]])(
    'is refused where it means something else: %j',
    async (said) => {
      await expect(finalOf(said, [look])).rejects.toMatchObject({
        code: 'EPROTO',
        message: expect.stringMatching(/^the script's final is no answer with tool calls: /) as string,
      });
    },
  );
});
