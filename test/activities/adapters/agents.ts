import { type Agents, createAgents } from '../../../activities/adapters/index.js';
import type { McpRequests } from '../../../activities/adapters/mcp.js';
import type { Clock } from '../../../activities/adapters/clock.js';
import type { ProviderGovernor } from '../../../activities/governor/port.js';
import type { AgentRequest } from '../../../activities/ports.js';
import type { SandboxPort } from '../../../activities/sandbox/port.js';
import { adapterSchema } from '../../../src/contracts/adapter.js';
import { ParleyError } from '../../../src/domain/errors.js';
import type { ControlFrame, Frame, Usage } from '../../../src/contracts/frames.js';
import type { Dispatcher } from 'undici';
import type { z } from 'zod';
import { createPrices } from '../../../src/pricing.js';

export type AdapterInput = z.input<typeof adapterSchema>;

export const requestOf = (adapter: AdapterInput, given: Partial<Omit<AgentRequest, 'adapter'>> = {}): AgentRequest => ({
  workId: 'session-1',
  laneId: 'a',
  personaId: 'painter',
  instructions: null,
  diversitySeed: 1,
  prompt: 'Which colour?',
  maxTokens: null,
  callsBefore: 0,
  ...given,
  adapter: adapterSchema.parse(adapter),
});

/** As on a machine without one. */
const refuse = () =>
  Promise.reject(new ParleyError('unavailable', 'no sandbox works on this worker. bubblewrap: install it.'));
const noSandbox: Pick<SandboxPort, 'choose' | 'open'> = { choose: refuse, open: refuse };

export const agentsOf = (
  given: {
    environment?: Record<string, string | undefined>;
    trustedCommands?: string[][];
    sandbox?: Pick<SandboxPort, 'choose' | 'open'>;
    clock?: Clock;
    cwd?: string;
    dispatcher?: Dispatcher;
    mcp?: McpRequests;
    governor?: ProviderGovernor;
  } = {},
): Agents =>
  createAgents({
    environment: given.environment ?? {},
    trustedCommands: given.trustedCommands ?? [],
    sandbox: given.sandbox ?? noSandbox,
    prices: createPrices({ 'priced/*': { input: 1, output: 10 } }),
    ...(given.clock === undefined ? {} : { clock: given.clock }),
    ...(given.cwd === undefined ? {} : { cwd: given.cwd }),
    ...(given.dispatcher === undefined ? {} : { dispatcher: given.dispatcher }),
    ...(given.mcp === undefined ? {} : { mcp: given.mcp }),
    ...(given.governor === undefined ? {} : { governor: given.governor }),
  });

export interface Listening {
  controller: AbortController;
  controls: ControlFrame[];
  usages: Usage[];
  context: { signal: AbortSignal; onControl: (frame: ControlFrame) => void; onUsage: (usage: Usage) => void };
  /** Settles with the next control frame that is said from now on. */
  nextControl: () => Promise<ControlFrame>;
}

export const listening = (): Listening => {
  const controller = new AbortController();
  const controls: ControlFrame[] = [];
  const usages: Usage[] = [];
  let heard: ((frame: ControlFrame) => void)[] = [];
  return {
    controller,
    controls,
    usages,
    context: {
      signal: controller.signal,
      onControl: (frame) => {
        controls.push(frame);
        const waiting = heard;
        heard = [];
        for (const tell of waiting) tell(frame);
      },
      onUsage: (usage) => usages.push(usage),
    },
    nextControl: () => new Promise((resolve) => heard.push(resolve)),
  };
};

export const allOf = async (frames: AsyncIterable<Frame>): Promise<Frame[]> => {
  const got: Frame[] = [];
  for await (const frame of frames) got.push(frame);
  return got;
};

/** The answer a lane would have: the final's own, else the partials joined. */
export const answerOf = (frames: readonly Frame[]): string => {
  const final = frames.find((frame) => frame.type === 'final');
  const joined = frames.map((frame) => (frame.type === 'partial' ? frame.text : '')).join('');
  return final?.type === 'final' ? (final.text ?? joined) : joined;
};

/** Ask once, hear everything. */
export const ask = async (
  agents: Agents,
  adapter: AdapterInput,
  given: Partial<Omit<AgentRequest, 'adapter'>> = {},
): Promise<{ frames: Frame[]; controls: ControlFrame[]; usages: Usage[] }> => {
  const { context, controls, usages } = listening();
  const frames = await allOf(await agents.open(requestOf(adapter, given), context));
  return { frames, controls, usages };
};
