import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ActivityCancellationDetails, CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { Registry } from 'prom-client';
import { type CallToolInput, createToolActivities } from '../../../activities/call-tool.js';
import { Records } from '../../../activities/execution/records.js';
import { createWorkMetrics } from '../../../activities/metrics.js';
import { fileTools } from '../../../activities/tools/files/index.js';
import { createAgentTools } from '../../../activities/tools/index.js';
import type { ToolCall, ToolSource } from '../../../activities/tools/port.js';
import type { Json } from '../../../src/contracts/frames.js';
import { rooms, toolCall } from './rig.js';
import { useSpans } from '../../support/spans.js';

const { folder, remove } = rooms();
afterAll(remove);

/** Two tools that count their calls: one that only looks, and one that does something. */
class Counter implements ToolSource {
  readonly name = 'counter';
  readonly called: ToolCall[] = [];
  answer: (signal: AbortSignal) => Promise<Json> = () => Promise.resolve({ status: 'ok' });
  open = () => Promise.resolve();
  close = () => Promise.resolve();
  failures = () => [];
  list = () => ['look', 'act'].map((name) => ({ name, description: '', parameters: {} }));
  owns = (name: string) => ['look', 'act'].includes(name);
  isRepeatable = (name: string) => name === 'look';
  call = async (call: ToolCall, signal: AbortSignal): Promise<Json> => {
    this.called.push(call);
    return await this.answer(signal);
  };
}

const rig = () => {
  const data = folder();
  const allowed = folder();
  const counter = new Counter();
  const registry = new Registry();
  const activities = createToolActivities({
    tools: createAgentTools({ sources: [fileTools(join(data, 'namespaces')), counter], onFailure: () => {} }),
    metrics: createWorkMetrics(registry),
    workspaces: { allowed: [allowed], dataFolder: data },
    toolRecords: new Records(join(data, 'executions')),
    workerIdentity: 'here',
    hostQueue: 'host',
  });
  const call = async (
    name: string,
    over: Partial<CallToolInput> = {},
    attempt = 1,
    scheduledTimestampMs = Date.now(),
  ) => {
    const input: CallToolInput = {
      ...toolCall(name, {}),
      traceId: '0'.repeat(32),
      allowed: ['*'],
      capabilities: null,
      ...over,
      workspace: over.workspace ?? null,
    };
    const environment = new MockActivityEnvironment({ attempt, scheduledTimestampMs });
    return { answer: environment.run(activities.callTool, input) as Promise<Json>, environment };
  };
  return { activities, counter, call, data, allowed, registry };
};

describe('a call of a tool', () => {
  test('is carried out in the folder of whom it is told', async () => {
    const { call, data } = rig();
    const given = { path: 'f', content: 'x' };
    await (
      await call('write_file', { given })
    ).answer;
    await (
      await call('write_file', { given, agentId: 'b', folderOf: 'c' })
    ).answer;
    expect(existsSync(join(data, 'namespaces', 'team-1', 'a', 'f'))).toBe(true);
    expect(existsSync(join(data, 'namespaces', 'team-1', 'c', 'f'))).toBe(true);
  });

  test.each<[string, Partial<CallToolInput>, string]>([
    ['the agent has not', { allowed: ['look'] }, 'not_allowed'],
    ['no list names', { allowed: null }, 'not_allowed'],
    ['its template leaves out', { capabilities: { allowed_tools: ['look'] } }, 'not_allowed'],
    ['its template forbids', { capabilities: { forbidden_actions: ['a*'] } }, 'forbidden'],
  ])('that %s is refused each time, and never made', async (_, over, code) => {
    const { call, counter } = rig();
    for (const attempt of [1, 2])
      expect(await (await call('act', { ...over, callId: 'c' }, attempt)).answer).toMatchObject({
        status: 'error',
        code,
      });
    expect(counter.called).toEqual([]);
  });

  test('of a tool that nobody has says which there are', async () => {
    const { call } = rig();
    expect(await (await call('invented')).answer).toEqual({
      status: 'error',
      code: 'unknown_tool',
      message: 'there is no tool "invented"; there are list_files, read_file, search_files, write_file, look, act',
    });
  });

  test.each<[string, number]>([
    ['look', 2],
    ['act', 1],
  ])('of %s is made %d times when its worker died in it', async (name, times) => {
    const { call, counter } = rig();
    let endLate: (answer: Json) => void = () => {};
    counter.answer = () => new Promise((resolve) => (endLate = resolve));
    const dead = (await call(name, { callId: 'c' })).answer;
    while (counter.called.length === 0) await new Promise((resolve) => setImmediate(resolve));
    counter.answer = () => Promise.resolve({ status: 'ok' });
    const answer = await (await call(name, { callId: 'c' }, 2)).answer;
    expect(counter.called).toHaveLength(times);
    if (name === 'look') expect(answer).toEqual({ status: 'ok' });
    else expect(answer).toMatchObject({ status: 'error', code: 'interrupted' });
    // However often it is tried.
    expect(await (await call(name, { callId: 'c' }, 3)).answer).toEqual(answer);
    endLate(null);
    await dead;
  });

  test('that had been answered when its worker died is answered the same', async () => {
    const { call, counter } = rig();
    counter.answer = () => Promise.resolve({ status: 'ok', number: 7 });
    await (
      await call('act', { callId: 'c' })
    ).answer;
    expect(await (await call('act', { callId: 'c' }, 2)).answer).toEqual({ status: 'ok', number: 7 });
    expect(counter.called).toHaveLength(1);
  });

  test('that had not begun when its worker died is made', async () => {
    const { call, counter } = rig();
    expect(await (await call('act', {}, 2)).answer).toEqual({ status: 'ok' });
    expect(counter.called).toHaveLength(1);
  });

  test('is another one under another id, whatever stands in that', async () => {
    const { call, counter } = rig();
    for (const callId of ['c', '../c', 'C/1', 'ü'.repeat(2_000)])
      expect(await (await call('act', { callId }, 2)).answer).toEqual({ status: 'ok' });
    expect(counter.called).toHaveLength(4);
  });

  test('hears of a cancel and ends as cancelled', async () => {
    const { call, counter } = rig();
    let heard = false;
    counter.answer = (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          heard = true;
          reject(new Error('stopped'));
        });
      });
    const { answer, environment } = await call('act');
    const refused = expect(answer).rejects.toThrow(CancelledFailure);
    while (counter.called.length === 0) await new Promise((resolve) => setImmediate(resolve));
    environment.cancel('CANCELLED', ActivityCancellationDetails.fromProto({ isCancelled: true }));
    await refused;
    expect(heard).toBe(true);
  });

  const untilAborted = (signal: AbortSignal): Promise<Json> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

  test.each(['look', 'act'])('of %s that takes all the time that its budget has left is ended', async (name) => {
    const { call, counter, registry } = rig();
    counter.answer = untilAborted;
    const ended = {
      status: 'error',
      code: 'EBUDGET',
      message: expect.stringMatching(`^${name} was ended, as the time`),
    };
    expect(await (await call(name, { callId: 'c', timeLeftMs: 200 })).answer).toEqual(ended);
    const text = await registry.getSingleMetricAsString('parley_tool_call_seconds');
    expect(text).toContain(`parley_tool_call_seconds_count{tool="${name}",outcome="EBUDGET"} 1`);
    // What became of it is known when its worker died after that.
    if (name === 'act') expect(await (await call(name, { callId: 'c', timeLeftMs: 200 }, 2)).answer).toEqual(ended);
    expect(counter.called).toHaveLength(1);
  });

  test.each<[string, number, number, number]>([
    ['is left', 0, 1, 0],
    ['is left by the time that a worker takes it', 60_000, 1, 60_000],
    ['is left to another try', 60_000, 2, 60_000],
  ])('of whose time nothing %s is not made', async (_, timeLeftMs, attempt, agoMs) => {
    const { call, counter } = rig();
    for (const name of ['look', 'act'])
      expect(await (await call(name, { timeLeftMs }, attempt, Date.now() - agoMs)).answer).toEqual({
        status: 'error',
        code: 'EBUDGET',
        message: `${name} was not called, as nothing of the time of its budget was left`,
      });
    expect(counter.called).toEqual([]);
  });

  test('that may take a year is not ended at once', async () => {
    const { call, counter } = rig();
    counter.answer = async (signal) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return { status: signal.aborted ? 'ended' : 'ok' };
    };
    expect(await (await call('act', { timeLeftMs: 31_536_000_000 })).answer).toEqual({ status: 'ok' });
  });

  test('that is cancelled before its time is over ends as cancelled', async () => {
    const { call, counter } = rig();
    counter.answer = untilAborted;
    const { answer, environment } = await call('act', { timeLeftMs: 60_000 });
    const refused = expect(answer).rejects.toThrow(CancelledFailure);
    while (counter.called.length === 0) await new Promise((resolve) => setImmediate(resolve));
    environment.cancel('CANCELLED', ActivityCancellationDetails.fromProto({ isCancelled: true }));
    await refused;
  });

  test('is counted by its tool and by how it ended', async () => {
    const { call, registry } = rig();
    await (
      await call('look')
    ).answer;
    await (
      await call('look', { allowed: [] })
    ).answer;
    await (
      await call('made-up-by-a-model')
    ).answer;
    const text = await registry.getSingleMetricAsString('parley_tool_call_seconds');
    expect(text).toContain('parley_tool_call_seconds_count{tool="look",outcome="ok"} 1');
    expect(text).toContain('parley_tool_call_seconds_count{tool="look",outcome="not_allowed"} 1');
    expect(text).toContain('parley_tool_call_seconds_count{tool="unknown",outcome="unknown_tool"} 1');
  });
});

describe('the span of a call of a tool', () => {
  const exporter = useSpans();

  test('is named as the conventions say, and holds neither what was given nor what was answered', async () => {
    const { call, counter } = rig();
    counter.answer = () => Promise.resolve({ status: 'error', code: 'tool_error', message: 'secret' });
    await (
      await call('act', { callId: 'c', given: { secret: 'secret' }, traceId: 'a'.repeat(32) })
    ).answer;
    const [span] = exporter.getFinishedSpans();
    expect(span?.name).toBe('execute_tool act');
    expect(span?.spanContext().traceId).toBe('a'.repeat(32));
    expect(span?.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'act',
      'gen_ai.tool.call.id': 'c',
      'gen_ai.agent.id': 'a',
      'error.type': 'tool_error',
      team_id: 'team-1',
      attempt: 1,
    });
  });
});

describe('the workspace of a team', () => {
  test('is looked at before anything is paid for', async () => {
    const { activities, allowed } = rig();
    const prepare = (path: string) => activities.prepareTools({ workspace: { path, isReadOnly: true } });
    expect(await prepare(allowed)).toEqual({ hostQueue: 'host', workspace: { path: allowed, isReadOnly: true } });
    await expect(prepare(folder())).rejects.toMatchObject({ type: 'ESEC', nonRetryable: true });
    await expect(prepare(join(allowed, 'nothing'))).rejects.toMatchObject({ type: 'invalid_request' });
  });

  test('is where calls work, as long as the operator allows it', async () => {
    const { call, allowed } = rig();
    const outside = folder();
    writeFileSync(join(outside, 'f'), 'secret');
    symlinkSync(outside, join(allowed, 'link'));
    const given = { path: 'f', content: 'x' };
    await (
      await call('write_file', { given, workspace: { path: allowed, isReadOnly: false } })
    ).answer;
    expect(readFileSync(join(allowed, 'f'), 'utf8')).toBe('x');
    for (const path of [outside, join(allowed, 'link')]) {
      const { answer } = await call('read_file', { given: { path: 'f' }, workspace: { path, isReadOnly: false } });
      expect(await answer).toMatchObject({ status: 'error', code: 'ESEC' });
    }
  });
});
