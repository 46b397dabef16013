import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import type { ApiKey } from './api-keys.js';
import type { SandboxBackend } from './contracts/execution.js';
import { withoutCredentials } from './contracts/url.js';
import type { DatedPrice } from './domain/ledger/prices.js';
import type { RetentionRules } from './domain/retention.js';
import { type S3Location, s3LocationOf } from './settings/artifacts.js';
import type { BudgetSettings } from './settings/budgets.js';
import { environmentSchema } from './settings/environment.js';
import { keysFileOf } from './settings/keys.js';
import { type LimitSettings, noLimitSettings } from './settings/limits.js';
import type { Allowance } from './settings/policy.js';

export interface Config {
  port: number;
  host: string;
  temporal: { address: string | null; namespace: string; port: number; uiPort: number };
  /** Absolute path of the data folder. */
  dataFolder: string;
  /** Those of the environment; more may be in `keysFile`. */
  apiKeys: readonly ApiKey[];
  /** Absolute path of the file that `parley keys` keeps; it need not be there. */
  keysFile: string;
  /** The private key that signs the audit log; null: one made in the data folder. */
  auditKeyFile: string | null;
  laneSecret: string | null;
  policy: { default: Allowance; tenants: Record<string, Allowance> };
  window: { max_parallel?: number | undefined; max_tokens?: number | undefined; max_usd_micros?: number | undefined };
  /** By provider/model or provider/*, US dollars for a million tokens. */
  prices: Record<string, DatedPrice[]>;
  /** What providers allow to all workers together, and the shares of tenants. */
  limits: LimitSettings;
  /** What tenants may use over all their work. */
  tenantBudgets: BudgetSettings;
  trustedCommands: string[][];
  /** Absolute paths; a workspace is one of these folders or lies below one. */
  workspaces: string[];
  /** What commands may be run in, and what they may see of the machine. */
  sandbox: { backends: SandboxBackend[]; network: boolean; readFolders: string[]; image: string };
  /** Of the memory that several machines share; null: each keeps its own. */
  mongodbUri: string | null;
  /** PROVIDER/MODEL that makes the vectors of memory; null: they are made in the process. */
  embeddingModel: string | null;
  /** What the identity guard compares a workspace's locks with, by variable. */
  identity: Readonly<Record<string, string | undefined>>;
  /** Without a slash at the end. */
  webUiUrl: string;
  /** Where callers reach the gateway, without a slash at the end; null: where they have called it. */
  publicUrl: string | null;
  busUrl: string | null;
  /** How long checkpoints are kept. */
  retention: RetentionRules;
  /** The bucket of artifacts and claims; null: they lie in the data folder. */
  s3: S3Location | null;
  /** Of what travels through Temporal, in bytes: above `inlineBytes` it goes to the artifact store, above `maxBytes` nowhere. */
  payloads: { inlineBytes: number; maxBytes: number; /** That every process finds. */ isPlaceNamed: boolean };
  /** Where a worker alone serves its metrics; 0: nowhere. */
  metricsPort: number;
  /** Which version its workers are: work stays with the one that began it. null: any worker takes any work. */
  deployment: { name: string; buildId: string } | null;
  /** Where spans are sent, without a slash at the end; null: nowhere. */
  telemetry: { endpoint: string | null; serviceName: string };
  /** Requests a minute and caller. */
  rateLimit: number;
  /** Workers that one fan-out may have at once. */
  maxFanOut: number;
  /** Absolute path of a folder of modules whose exports fan-ins may name; null: there is none. */
  functionsFolder: string | null;
  /** Absolute path of a file that names MCP servers whose tools agents of teams may have; null: there is none. */
  mcpServersFile: string | null;
  /** Absolute path of the file of panels that chat completions are asked of; null: the installation's own alone. */
  modelsFile: string | null;
  /** Hosts that webhooks may be at, null: any public one; and for how long a delivery is tried. */
  webhooks: { hosts: string[] | null; retryMs: number };
  maxConcurrentTasks: number;
  maxKeepaliveConnections: number;
  maxConnections: number;
  useBackgroundAgents: boolean;
  /** Most tokens that the context window of an agent holds. */
  contextTokens: number;
  /** KIND/MODEL that explores for agents; null: who answers for the agent that asks. */
  explorerModel: string | null;
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
}

/** Every bad variable at once, a line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(readonly faults: readonly { variable: string; message: string }[]) {
    super(
      ['The environment has faults:', ...faults.map(({ variable, message }) => `  ${variable} ${message}.`)].join('\n'),
    );
  }
}

/** An empty variable counts as not set, as in most shells' `VAR= command`. */
const present = (environment: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''),
  );

/** Variables whose value is a secret: faults about them never show what was given. */
const secret = new Set([
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'MONGODB_URI',
  'PARLEY_API_KEYS',
  'PARLEY_LANE_SECRET',
  'PARLEY_BUS_URL',
]);

/**
 * Reads the environment once, at start (spec 09 "Ports and environment").
 * @throws ConfigError that names every bad variable and what would be right.
 */
export const loadConfig = (environment: NodeJS.ProcessEnv): Config => {
  const given = present(environment);
  const parsed = environmentSchema.safeParse(given);
  if (!parsed.success) {
    throw new ConfigError(
      parsed.error.issues.map((issue) => {
        const variable = String(issue.path[0]);
        const value = given[variable];
        const got =
          value === undefined || secret.has(variable)
            ? ''
            : `; got ${JSON.stringify(withoutCredentials(value).slice(0, 120))}`;
        return { variable, message: withoutCredentials(issue.message) + got };
      }),
    );
  }
  const { data } = parsed;
  return {
    port: data.PORT,
    host: data.HOST,
    temporal: {
      address: data.TEMPORAL_ADDRESS ?? null,
      namespace: data.TEMPORAL_NAMESPACE,
      port: data.TEMPORAL_PORT,
      uiPort: data.TEMPORAL_UI_PORT,
    },
    dataFolder: resolve(data.PARLEY_DATA),
    apiKeys: data.PARLEY_API_KEYS.keys,
    keysFile: keysFileOf(data),
    auditKeyFile: data.PARLEY_AUDIT_KEY_FILE === undefined ? null : resolve(data.PARLEY_AUDIT_KEY_FILE),
    laneSecret: data.PARLEY_LANE_SECRET ?? null,
    policy: data.PARLEY_POLICY ?? { default: {}, tenants: {} },
    window: data.PARLEY_WINDOW ?? {},
    prices: data.PARLEY_PRICES ?? {},
    limits: data.PARLEY_PROVIDER_LIMITS ?? noLimitSettings,
    tenantBudgets: data.PARLEY_TENANT_BUDGETS ?? {},
    trustedCommands: data.PARLEY_TRUSTED_COMMANDS ?? [],
    workspaces: data.PARLEY_WORKSPACES ?? [process.cwd(), tmpdir()],
    sandbox: {
      backends: data.PARLEY_SANDBOX_BACKENDS,
      network: data.PARLEY_SANDBOX_NETWORK === 'true',
      readFolders: data.PARLEY_SANDBOX_READ ?? [],
      image: data.PARLEY_SANDBOX_IMAGE,
    },
    mongodbUri: data.MONGODB_URI ?? null,
    embeddingModel: data.PARLEY_EMBEDDING_MODEL ?? null,
    identity: {
      PARLEY_LOCK_PROJECT: data.PARLEY_LOCK_PROJECT,
      PARLEY_LOCK_DATABASE: data.PARLEY_LOCK_DATABASE,
      PARLEY_LOCK_TENANT: data.PARLEY_LOCK_TENANT,
      PARLEY_SKIP_IDENTITY: data.PARLEY_SKIP_IDENTITY,
    },
    webUiUrl: (data.PARLEY_WEB_UI_URL ?? `http://127.0.0.1:${data.TEMPORAL_UI_PORT}`).replace(/\/+$/, ''),
    publicUrl: data.PARLEY_PUBLIC_URL?.replace(/\/+$/, '') ?? null,
    busUrl: data.PARLEY_BUS_URL ?? null,
    retention: {
      maxCheckpoints: data.PARLEY_MAX_CHECKPOINTS,
      hotMs: data.PARLEY_CHECKPOINT_MAX_AGE_HOURS * 3_600_000,
      archiveMs: data.PARLEY_ARCHIVE_RETENTION_DAYS * 86_400_000,
    },
    s3: s3LocationOf(data),
    payloads: {
      inlineBytes: data.PARLEY_INLINE_BYTES,
      maxBytes: data.PARLEY_MAX_PAYLOAD_BYTES,
      isPlaceNamed: given['PARLEY_DATA'] !== undefined || data.PARLEY_ARTIFACTS_URL !== undefined,
    },
    metricsPort: data.PARLEY_METRICS_PORT,
    deployment:
      data.PARLEY_BUILD_ID === undefined
        ? null
        : { name: data.PARLEY_DEPLOYMENT ?? 'parley', buildId: data.PARLEY_BUILD_ID },
    telemetry: {
      endpoint: data.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/+$/, '') ?? null,
      serviceName: data.OTEL_SERVICE_NAME,
    },
    rateLimit: data.PARLEY_RATE_LIMIT,
    maxFanOut: data.PARLEY_MAX_FAN_OUT,
    functionsFolder: data.PARLEY_FUNCTIONS === undefined ? null : resolve(data.PARLEY_FUNCTIONS),
    mcpServersFile: data.PARLEY_MCP_SERVERS === undefined ? null : resolve(data.PARLEY_MCP_SERVERS),
    modelsFile: data.PARLEY_MODELS === undefined ? null : resolve(data.PARLEY_MODELS),
    webhooks: { hosts: data.PARLEY_WEBHOOK_HOSTS ?? null, retryMs: data.PARLEY_WEBHOOK_RETRY_SECONDS * 1_000 },
    maxConcurrentTasks: data.PARLEY_MAX_CONCURRENT_TASKS,
    maxKeepaliveConnections: data.PARLEY_MAX_KEEPALIVE_CONNECTIONS,
    maxConnections: data.PARLEY_MAX_CONNECTIONS,
    contextTokens: data.PARLEY_CONTEXT_TOKENS,
    explorerModel: data.PARLEY_EXPLORER_MODEL ?? null,
    useBackgroundAgents: data.PARLEY_USE_BACKGROUND_AGENTS === 'true',
    logLevel: data.LOG_LEVEL,
  };
};
