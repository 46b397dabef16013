import type { Dispatcher } from 'undici';
import { ParleyError } from '../../src/domain/errors.js';
import type { Adapter } from '../../src/contracts/adapter.js';
import type { Prices } from '../../src/pricing.js';
import { providerOf } from '../../src/provider.js';
import type { AgentFrame, AgentPort, AgentRequest } from '../ports.js';
import type { SandboxPort } from '../sandbox/port.js';
import { endOfRefusal, governedFrames } from '../governor/governed-frames.js';
import type { Admission, ProviderGovernor } from '../governor/port.js';
import { mostTokens } from '../governor/tokens.js';
import { whileWaiting } from '../call-waits.js';
import { type Call, startCall } from './frame-stream.js';
import { openA2a } from './a2a.js';
import { openModel } from './ai-sdk.js';
import { type Clock, systemClock } from './clock.js';
import { openCommand } from './command.js';
import { createConnections, type Environment } from './connections.js';
import { openHttp } from './http.js';
import { type McpRequests, openMcp } from './mcp.js';
import { openScripted } from './scripted.js';
import { openSimulated } from './simulated.js';

export interface AgentsOptions {
  /** The worker's environment: keys, base URLs, connection limits, PATH for programs. */
  environment: Environment;
  /** Beginnings of argv that the operator trusts to run outside a sandbox (PARLEY_TRUSTED_COMMANDS). */
  trustedCommands: readonly (readonly string[])[];
  /** Where programs run that are not trusted. */
  sandbox: Pick<SandboxPort, 'choose' | 'open'>;
  prices: Prices;
  /** Connections to use instead of a pool of one's own; they are left open by `close`. */
  dispatcher?: Dispatcher;
  /** Keeps providers' limits over all workers; left out: nobody does. */
  governor?: ProviderGovernor;
  /** The MCP servers whose tools can be lanes; left out: there are none. */
  mcp?: McpRequests;
  clock?: Clock;
  /** Where programs run; the worker's own folder by default. */
  cwd?: string;
}

export interface Agents extends AgentPort {
  /** Ends every call under way and closes the connections. May be called twice. */
  close(): Promise<void>;
}

/** What an answer may have where neither the call nor its adapter says. */
const ungivenMaxTokens = 1024;

/** Of a provider that nobody limits. */
const free: Admission = { sent: () => undefined, end: () => undefined };

/** What is paid for by the token, and asks its provider by itself. */
const isModel = ({ kind }: Adapter): boolean =>
  kind === 'openai-compatible' || kind === 'openai' || kind === 'anthropic';

/** Every adapter of spec 10 behind the one port, chosen by `adapter.kind`. */
export const createAgents = (options: AgentsOptions): Agents => {
  const { environment, trustedCommands, sandbox, prices, clock = systemClock, cwd = process.cwd() } = options;
  const dispatcher = options.dispatcher ?? createConnections(environment);
  const live = new Set<Call>();
  let closed = false;
  const openBy = async (
    request: AgentRequest,
    call: Call,
    admission: Admission = free,
  ): Promise<AsyncIterable<AgentFrame>> => {
    const { adapter } = request;
    switch (adapter.kind) {
      case 'scripted':
        return openScripted(adapter, request, call, clock);
      case 'simulated':
        return openSimulated(adapter, request, call, clock);
      case 'openai-compatible':
      case 'openai':
      case 'anthropic':
        return openModel(adapter, request, call, {
          environment,
          prices,
          dispatcher,
          admit: (tokens) => admit(request, call, tokens),
        });
      case 'command':
        return openCommand(adapter, request, call, { environment, trustedCommands, sandbox, cwd });
      case 'http':
        return openHttp(adapter, request, call, dispatcher);
      case 'a2a':
        return openA2a(adapter, request, call, { dispatcher, environment });
      case 'mcp':
        return openMcp(adapter, request, call, options.mcp, () => admission.end({ outcome: 'answered', tokens: null }));
      case 'external':
        throw new ParleyError(
          'EPROTO',
          `lane ${request.laneId} is external: it is fed by POST …/lanes/${request.laneId}/frames and cannot be called`,
        );
    }
  };
  /** What is not there is refused without limits: a name out of a request would begin a governor. */
  const isThere = (adapter: Adapter): boolean => adapter.kind !== 'mcp' || options.mcp?.has(adapter.server) === true;
  const governs = (adapter: Adapter): boolean =>
    isThere(adapter) && options.governor?.governs(providerOf(adapter), isModel(adapter)) === true;
  const admit = async ({ adapter, tenant, tier }: AgentRequest, call: Call, tokens: number): Promise<Admission> => {
    const { governor } = options;
    if (!governor || !governs(adapter)) return free;
    const model = 'model' in adapter ? adapter.model : adapter.kind;
    const asked = { provider: providerOf(adapter), model, tenant: tenant ?? 'default', tier: tier ?? 'silver', tokens };
    const wait = { for: 'provider_limit' as const, of: asked.provider };
    return await whileWaiting(wait, () => governor.admit(asked, call.signal));
  };
  /** A model admits each of its requests by itself, as it may make several; anything else is one call. */
  const openGoverned = async (request: AgentRequest, call: Call): Promise<AsyncIterable<AgentFrame>> => {
    if (isModel(request.adapter) || !governs(request.adapter)) return await openBy(request, call);
    const text = request.prompt + (request.instructions ?? '');
    const admission = await admit(request, call, mostTokens(text) + (request.maxTokens ?? ungivenMaxTokens));
    admission.sent();
    try {
      return governedFrames(await openBy(request, call, admission), admission, call.signal);
    } catch (error) {
      admission.end(endOfRefusal(error));
      throw error;
    }
  };
  return {
    open: async (request, context) => {
      if (closed) throw new ParleyError('EDRAINING', 'this worker is stopping and takes no new calls');
      const call = startCall(context, live);
      try {
        return await openGoverned(request, call);
      } catch (error) {
        call.abort();
        call.unlink();
        throw error;
      }
    },
    close: async () => {
      closed = true;
      for (const call of live) call.abort();
      if (options.dispatcher === undefined) await dispatcher.destroy();
    },
  };
};
