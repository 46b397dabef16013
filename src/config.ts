import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import type { ApiKey } from './api-keys.js';
import { artifactsUrlSchema, awsVariables, missingForS3, type S3Location, s3LocationOf } from './settings/artifacts.js';
import { type BudgetSettings, budgetSettingsSchema } from './settings/budgets.js';
import { type SandboxBackend, sandboxBackends } from './contracts/execution.js';
import { windowSchema } from './contracts/frames.js';
import { tiers } from './contracts/session.js';
import type { DatedPrice } from './domain/ledger/prices.js';
import { inlineBytesPreset, maxPayloadBytes } from './domain/payload-limit.js';
import type { RetentionRules } from './domain/retention.js';
import { apiKeysSchema, checkKeys, keysFileOf } from './settings/keys.js';
import { type LimitSettings, limitSettingsSchema, noLimitSettings } from './settings/limits.js';
import { webhookHostsSchema } from './settings/webhooks.js';

/** Every adapter kind an operator may name in PARLEY_POLICY. */
const adapterKinds = [
  'scripted',
  'simulated',
  'openai-compatible',
  'openai',
  'anthropic',
  'command',
  'http',
  'a2a',
  'mcp',
  'external',
] as const;

const whole = (from: number, to: number, preset: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${from} to ${to}`)
    .transform(Number)
    .refine((value) => value >= from && value <= to, `must be a whole number from ${from} to ${to}`)
    .default(preset);

const json = <S extends z.ZodType>(schema: S, example: string) =>
  z.string().transform((text, context): z.output<S> => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      context.addIssue({ code: 'custom', message: `must be JSON such as ${example}` });
      return z.NEVER;
    }
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) {
      const where = issue.path.length > 0 ? `${issue.path.join('.')}: ` : '';
      context.addIssue({ code: 'custom', message: `${where}${issue.message}; an example: ${example}` });
    }
    return z.NEVER;
  });

const allowanceSchema = z.strictObject({
  adapters: z.array(z.enum(adapterKinds)).optional(),
  providers: z.array(z.string().min(1)).optional(),
  models: z.array(z.string().min(1)).optional(),
  tiers: z.array(z.enum(tiers)).optional(),
});
/** What a tenant may use; a member left out allows everything. */
export type Allowance = z.infer<typeof allowanceSchema>;

const policyExample = '{"default":{"adapters":["scripted","openai"]},"tenants":{"acme":{"tiers":["bronze"]}}}';
const policySchema = z.strictObject({
  default: allowanceSchema.default({}),
  tenants: z.record(z.string(), allowanceSchema).default({}),
});

/** US dollars for a million tokens, from a day on. */
const priceSchema = z.strictObject({
  from: z.iso.date({ error: 'must be a day such as 2026-01-31' }).optional(),
  input: z.number().min(0),
  output: z.number().min(0),
});
const pricesSchema = z.record(
  z.string().regex(/^[^/]+\/.+$/, 'a name must be provider/model or provider/*'),
  // Told apart by what they are, so that a fault is told of that alone.
  z.preprocess((given) => (Array.isArray(given) ? given : [given]), z.array(priceSchema).min(1)),
);

const trustedExample = '["my-agent"] or [["npm","test"]]';
/** Programs that may run outside the sandbox, as beginnings of their argv. */
const trustedCommandsSchema = z
  .array(z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]))
  .transform((commands) => commands.map((command) => (typeof command === 'string' ? [command] : command)));

/** As PATH is written. */
const foldersSchema = z
  .string()
  .transform((text) => text.split(delimiter).filter((folder) => folder !== ''))
  .refine((folders) => folders.every(isAbsolute), `must be absolute paths with "${delimiter}" between them`)
  .transform((folders) => folders.map((folder) => resolve(folder)));

const backendsSchema = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .pipe(
    z.array(z.enum(sandboxBackends, { error: `must be some of ${sandboxBackends.join(', ')} with "," between them` })),
  );

/** Temporal writes a version as DEPLOYMENT.BUILD, so that the first has no dot. */
const deploymentSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/, 'must be 1 to 100 letters, digits, "_" or "-"');
const buildSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'must be 1 to 100 letters, digits, ".", "_" or "-"');

const environmentSchema = z
  .object({
    PORT: whole(0, 65_535, 3000),
    HOST: z.string().min(1).default('127.0.0.1'),
    TEMPORAL_ADDRESS: z
      .string()
      .regex(/^.+:\d{1,5}$/, 'must be host:port such as 127.0.0.1:7233')
      .optional(),
    TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
    TEMPORAL_PORT: whole(0, 65_535, 7233),
    TEMPORAL_UI_PORT: whole(0, 65_535, 8233),
    PARLEY_DATA: z.string().min(1).default('.parley'),
    PARLEY_API_KEYS: apiKeysSchema,
    PARLEY_KEYS_FILE: z.string().min(1).optional(),
    PARLEY_AUDIT_KEY_FILE: z.string().min(1).optional(),
    PARLEY_LANE_SECRET: z.string().min(16, 'must be at least 16 characters').optional(),
    PARLEY_POLICY: json(policySchema, policyExample).optional(),
    PARLEY_WINDOW: json(windowSchema, '{"max_parallel":20,"max_tokens":200000,"max_usd_micros":5000000}').optional(),
    PARLEY_PRICES: json(pricesSchema, '{"openai/my-model":{"input":0.5,"output":1.5}}').optional(),
    PARLEY_PROVIDER_LIMITS: limitSettingsSchema.optional(),
    PARLEY_TENANT_BUDGETS: budgetSettingsSchema.optional(),
    PARLEY_TRUSTED_COMMANDS: json(trustedCommandsSchema, trustedExample).optional(),
    PARLEY_WORKSPACES: foldersSchema.optional(),
    PARLEY_SANDBOX_BACKENDS: backendsSchema.default(['bubblewrap', 'docker']),
    PARLEY_SANDBOX_NETWORK: z.enum(['true', 'false'], { error: 'must be true or false' }).default('false'),
    PARLEY_SANDBOX_READ: foldersSchema.optional(),
    PARLEY_SANDBOX_IMAGE: z.string().min(1).default('node:20-bookworm-slim'),
    MONGODB_URI: z
      .url({ protocol: /^mongodb(\+srv)?$/, error: 'must be a URL such as mongodb://user:password@host/database' })
      .optional(),
    PARLEY_EMBEDDING_MODEL: z
      .string()
      .regex(/^[^/]+\/.+$/, 'must be PROVIDER/MODEL such as openai/text-embedding-3-small')
      .optional(),
    PARLEY_LOCK_PROJECT: z.string().optional(),
    PARLEY_LOCK_DATABASE: z.string().optional(),
    PARLEY_LOCK_TENANT: z.string().optional(),
    // Not an enumeration: anything but exactly "true" does not skip, and a typing error must not stop the worker.
    PARLEY_SKIP_IDENTITY: z.string().optional(),
    PARLEY_PUBLIC_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
    PARLEY_WEB_UI_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
    PARLEY_BUS_URL: z
      .url({ protocol: /^postgres(ql)?$/, error: 'must be a URL such as postgres://user:password@host/database' })
      .optional(),
    PARLEY_ARTIFACTS_URL: artifactsUrlSchema.optional(),
    ...awsVariables,
    PARLEY_MAX_CHECKPOINTS: whole(1, 100, 100),
    PARLEY_CHECKPOINT_MAX_AGE_HOURS: whole(1, 87_600, 24),
    PARLEY_ARCHIVE_RETENTION_DAYS: whole(0, 3_650, 7),
    PARLEY_INLINE_BYTES: whole(1_024, 1_500_000, inlineBytesPreset),
    PARLEY_MAX_PAYLOAD_BYTES: whole(65_536, maxPayloadBytes, maxPayloadBytes),
    PARLEY_METRICS_PORT: whole(0, 65_535, 0),
    PARLEY_DEPLOYMENT: deploymentSchema.optional(),
    PARLEY_BUILD_ID: buildSchema.optional(),
    OTEL_EXPORTER_OTLP_ENDPOINT: z
      .url({ protocol: /^https?$/, error: 'must be an http or https URL such as http://127.0.0.1:4318' })
      .optional(),
    OTEL_SERVICE_NAME: z.string().min(1).default('parley'),
    PARLEY_RATE_LIMIT: whole(1, 1_000_000, 6000),
    PARLEY_MAX_FAN_OUT: whole(1, 1_000, 5),
    PARLEY_FUNCTIONS: z.string().min(1).optional(),
    PARLEY_MCP_SERVERS: z.string().min(1).optional(),
    PARLEY_MODELS: z.string().min(1).optional(),
    PARLEY_WEBHOOK_HOSTS: webhookHostsSchema.optional(),
    PARLEY_WEBHOOK_RETRY_SECONDS: whole(0, 604_800, 86_400),
    PARLEY_MAX_CONCURRENT_TASKS: whole(1, 10_000, 10),
    PARLEY_MAX_KEEPALIVE_CONNECTIONS: whole(0, 100_000, 20),
    PARLEY_MAX_CONNECTIONS: whole(1, 100_000, 100),
    PARLEY_CONTEXT_TOKENS: whole(1_000, 100_000_000, 100_000),
    PARLEY_EXPLORER_MODEL: z
      .string()
      .regex(/^(openai|anthropic|openai-compatible)\/.+$/, 'must be KIND/MODEL such as anthropic/claude-haiku-4-5')
      .optional(),
    PARLEY_USE_BACKGROUND_AGENTS: z.enum(['true', 'false'], { error: 'must be true or false' }).default('true'),
    LOG_LEVEL: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
        error: 'must be trace, debug, info, warn, error, fatal or silent',
      })
      .default('info'),
  })
  .superRefine((environment, context) => {
    const fault = (variable: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [variable], message });
    for (const name of missingForS3(environment))
      fault(name, 'must be set for PARLEY_ARTIFACTS_URL: it is one of the keys of the bucket');
    if (environment.PARLEY_DEPLOYMENT !== undefined && environment.PARLEY_BUILD_ID === undefined)
      fault('PARLEY_BUILD_ID', 'must be set where PARLEY_DEPLOYMENT is: a deployment is told apart by its builds');
    const { faults, isEmpty } = checkKeys(environment);
    for (const { variable, message } of faults) fault(variable, message);
    if (faults.length > 0 || !isEmpty || isLoopback(environment.HOST)) return;
    fault(
      'HOST',
      'must be a loopback address (127.0.0.1, ::1 or localhost) as long as there are no API keys: ' +
        'anyone who reaches the port could start work. Set PARLEY_API_KEYS, or make a key with parley keys add, to listen elsewhere',
    );
  });

/** 127.0.0.0/8, ::1 and localhost: what only this machine reaches. */
export const isLoopback = (host: string): boolean =>
  /^127(\.\d{1,3}){3}$/.test(host) || host === '::1' || host === '[::1]' || host.toLowerCase() === 'localhost';

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
        const got = value === undefined || secret.has(variable) ? '' : `; got ${JSON.stringify(value.slice(0, 120))}`;
        return { variable, message: issue.message + got };
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
