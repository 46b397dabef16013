import { z } from 'zod';
import { windowSchema } from '../contracts/frames.js';
import { inlineBytesPreset, maxPayloadBytes } from '../domain/payload-limit.js';
import { artifactsUrlSchema, awsVariables, missingForS3 } from './artifacts.js';
import { budgetSettingsSchema } from './budgets.js';
import { backendsSchema, foldersSchema, trustedCommandsSchema } from './commands.js';
import { json } from './json.js';
import { apiKeysSchema, checkKeys } from './keys.js';
import { limitSettingsSchema } from './limits.js';
import { isLoopback } from './loopback.js';
import { policySchema } from './policy.js';
import { pricesSchema } from './prices.js';
import { webhookHostsSchema } from './webhooks.js';

const whole = (from: number, to: number, preset: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${from} to ${to}`)
    .transform(Number)
    .refine((value) => value >= from && value <= to, `must be a whole number from ${from} to ${to}`)
    .default(preset);

/** Temporal writes a version as DEPLOYMENT.BUILD, so that the first has no dot. */
const deploymentSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/, 'must be 1 to 100 letters, digits, "_" or "-"');
const buildSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'must be 1 to 100 letters, digits, ".", "_" or "-"');

/** What servers and workers read of the environment (spec 09 "Ports and environment"). */
export const environmentSchema = z
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
    PARLEY_POLICY: policySchema.optional(),
    PARLEY_WINDOW: json(windowSchema, '{"max_parallel":20,"max_tokens":200000,"max_usd_micros":5000000}').optional(),
    PARLEY_PRICES: pricesSchema.optional(),
    PARLEY_PROVIDER_LIMITS: limitSettingsSchema.optional(),
    PARLEY_TENANT_BUDGETS: budgetSettingsSchema.optional(),
    PARLEY_TRUSTED_COMMANDS: trustedCommandsSchema.optional(),
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
  .superRefine(
    (environment, context) => {
      const fault = (variable: string, message: string): void =>
        context.addIssue({ code: 'custom', path: [variable], message });
      for (const name of missingForS3(environment))
        fault(name, 'must be set for PARLEY_ARTIFACTS_URL: it is one of the keys of the bucket');
      if (environment.PARLEY_DEPLOYMENT !== undefined && environment.PARLEY_BUILD_ID === undefined)
        fault('PARLEY_BUILD_ID', 'must be set where PARLEY_DEPLOYMENT is: a deployment is told apart by its builds');
      if (context.issues.some(({ path }) => path?.[0] === 'PARLEY_API_KEYS')) return;
      const { faults, isEmpty } = checkKeys(environment);
      for (const { variable, message } of faults) fault(variable, message);
      if (faults.length > 0 || !isEmpty || isLoopback(environment.HOST)) return;
      fault(
        'HOST',
        'must be a loopback address (127.0.0.1, ::1 or localhost) as long as there are no API keys: ' +
          'anyone who reaches the port could start work. Set PARLEY_API_KEYS, or make a key with parley keys add, to listen elsewhere',
      );
    },
    // Whatever is wrong with single variables, so that all is told at once.
    { when: () => true },
  );
