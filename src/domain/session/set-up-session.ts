import type { Adapter } from '../../contracts/adapter.js';
import type { Window } from '../../contracts/frames.js';
import type { Tier } from '../../contracts/session.js';
import { noAmount } from '../budget.js';
import { shapedInstructions } from '../template.js';
import type {
  LaneSpec,
  OpenSession,
  Operator,
  CallSetup,
  SetupFault,
  LaneSetup,
  SessionSetup,
  WindowLimits,
} from './setup.js';

/** Tokens of a call whose adapter gives no hint of its size (a program, a remote agent). */
export const assumedTokens = 256;

/** What a person calls an adapter: its kind and the one thing that tells it from its like. */
export const adapterName = (adapter: Adapter): string => {
  switch (adapter.kind) {
    case 'scripted':
    case 'external':
      return adapter.kind;
    case 'simulated':
    case 'openai':
    case 'anthropic':
      return `${adapter.kind} ${adapter.model}`;
    case 'openai-compatible':
      return `${adapter.provider} ${adapter.model}`;
    case 'command':
      // No more of argv: arguments may be long, or secret.
      return `command ${adapter.argv[0]?.split(/[\\/]/).at(-1) ?? ''}`;
    case 'http':
    case 'a2a': {
      // The authority alone: a path or a query may hold a token. No URL class here, the domain has no Node built-ins.
      const authority = /^[a-z]+:\/\/(?:[^/?#@]*@)?([^/?#]*)/i.exec(adapter.url)?.[1];
      return `${adapter.kind} ${authority ?? ''}`;
    }
    case 'mcp':
      return `mcp ${adapter.server} ${adapter.tool}`;
  }
};

/**
 * Lanes with the same key talk to the same agent and share its control status. Scripts, simulations and external lanes
 * have no agent in common: each is its own.
 */
export const adapterKey = (adapter: Adapter, laneId: string): string => {
  switch (adapter.kind) {
    case 'scripted':
    case 'simulated':
    case 'external':
      return `${adapter.kind}:${laneId}`;
    case 'openai':
    case 'anthropic':
      return `${adapter.kind}:${adapter.model}`;
    case 'openai-compatible':
      return `${adapter.provider}:${adapter.base_url ?? ''}:${adapter.model}`;
    case 'command':
      return `command:${adapter.argv.join(' ')}`;
    case 'http':
    case 'a2a':
      return `${adapter.kind}:${adapter.url}`;
    case 'mcp':
      return `mcp:${adapter.server}`;
  }
};

const usdMicros = (usd: number): number => Math.round(usd * 1e6);

type Priced = Pick<CallSetup, 'estimate' | 'faults'>;

/** An adapter without a price is refused at admission, never taken for free (spec 08 "Prices"). */
const priced = (
  { operator, tenant, prompt }: { operator: Operator; tenant: string; prompt: string },
  adapter: Adapter,
  tier: Tier,
): Priced => {
  const forbidden = operator.policyFault(tenant, adapter, tier);
  const estimate = operator.estimate(adapter, prompt, tier);
  const faults: SetupFault[] = forbidden === null ? [] : [{ code: 'ESEC', message: forbidden }];
  if (!('unpriced' in estimate)) return { estimate, faults };
  return { estimate: noAmount, faults: [{ code: 'EBUDGET', message: estimate.unpriced }, ...faults] };
};

/** The smaller of two limits; null is none, and a negative suggestion counts as 0 (details 1.6). */
const narrowest = (limit: number | null, suggested: number | undefined): number | null => {
  if (suggested === undefined) return limit;
  const wanted = Math.max(0, suggested);
  return limit === null ? wanted : Math.min(limit, wanted);
};

const narrowed = (window: WindowLimits, by: Window | undefined): WindowLimits => ({
  maxParallel: narrowest(window.maxParallel, by?.max_parallel),
  maxTokens: narrowest(window.maxTokens, by?.max_tokens),
  maxUsdMicros: narrowest(window.maxUsdMicros, by?.max_usd_micros),
});

export interface SetupIdentity {
  id: string;
  /** 32 hex digits. */
  traceId: string;
  webUiUrl: string;
}

/**
 * Everything about a session that depends on the operator's configuration, decided once, so that the workflow needs none
 * of it and a replay sees what was true at the start. Clones become lanes `b#1`, `b#2`; a single one stays `b` (spec 10).
 */
export const setUpSession = (request: OpenSession, identity: SetupIdentity, operator: Operator): SessionSetup => {
  const { policy, tenant, prompt } = request;
  const context = { operator, tenant, prompt };

  const lane = (spec: Omit<LaneSpec, 'clones'>, clone: number, laneId: string): LaneSetup => {
    const personaId = spec.persona?.persona_id ?? spec.lane_id;
    const { instructions: own = null, template } = spec.persona ?? {};
    const instructions = shapedInstructions(template, own ?? '') || own;
    return {
      laneId,
      clone,
      personaId,
      instructions,
      ...(template?.checkpoint?.triggers && { checkpointTriggers: template.checkpoint.triggers }),
      diversitySeed: clone,
      tier: spec.tier,
      weight: spec.weight * policy.tier_weights[spec.tier],
      timeoutMs: spec.timeout_ms ?? null,
      adapter: spec.adapter,
      adapterName: adapterName(spec.adapter),
      adapterKey: adapterKey(spec.adapter, laneId),
      ...priced(
        { ...context, prompt: instructions === null ? prompt : `${instructions}\n${prompt}` },
        spec.adapter,
        spec.tier,
      ),
    };
  };

  // Judges, arbiters and mergers read every lane's answer; the prompt is what is known of that now.
  const call = (role: string, adapter: Adapter | undefined): CallSetup | null =>
    adapter
      ? {
          adapter,
          adapterName: adapterName(adapter),
          adapterKey: adapterKey(adapter, role),
          ...priced(context, adapter, 'gold'),
        }
      : null;

  const { agreement, arbiter, merge, escalation } = policy;
  return {
    ...identity,
    tenant,
    labels: request.labels,
    prompt,
    policy,
    budget: {
      maxTokens: request.budget.max_tokens ?? null,
      maxUsdMicros: request.budget.max_usd === undefined ? null : usdMicros(request.budget.max_usd),
    },
    window: narrowed(operator.window(tenant), policy.window),
    lanes: request.lanes.flatMap((spec) =>
      Array.from({ length: spec.clones }, (_, index) =>
        lane(spec, index + 1, spec.clones === 1 ? spec.lane_id : `${spec.lane_id}#${index + 1}`),
      ),
    ),
    escalation:
      escalation.allowed && escalation.lane?.adapter
        ? lane({ ...escalation.lane, adapter: escalation.lane.adapter }, 1, escalation.lane.lane_id)
        : null,
    judge: agreement.method === 'judge' ? call('judge', agreement.adapter) : null,
    arbiter: arbiter.allowed ? call('arbiter', arbiter.adapter) : null,
    merge: call('merge', merge?.adapter),
  };
};
