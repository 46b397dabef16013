import { join } from 'node:path';
import type { Logger } from 'pino';
import type { CallToolPorts } from '../activities/call-tool.js';
import type { DebatePorts } from '../activities/debate-activities.js';
import type { FanOutPorts } from '../activities/fan-out-activities.js';
import { openStores } from '../activities/artifacts/index.js';
import { createAuditLog } from '../activities/audit/audit-log.js';
import { auditFolder } from '../activities/audit/chain-folder.js';
import { createExecution } from '../activities/execution/index.js';
import { Records } from '../activities/execution/records.js';
import { openMemory } from '../activities/memory/index.js';
import type { SandboxPort } from '../activities/sandbox/port.js';
import { createSnapshots } from '../activities/snapshot/index.js';
import { fileTools } from '../activities/tools/files/index.js';
import { createAgentTools } from '../activities/tools/index.js';
import { type McpServers, openMcpServers, readMcpServers } from '../activities/tools/mcp/index.js';
import { shellTools } from '../activities/tools/shell.js';
import type { Config } from '../src/config.js';
import { admissionFaults } from '../src/domain/security-rules/index.js';
import { isRunning, workerIdentity } from './identity.js';

export interface WorkerParts
  extends Omit<DebatePorts, 'agents' | 'bus' | 'metrics' | 'hostQueue'>,
    Omit<FanOutPorts, 'agents' | 'bus' | 'metrics' | 'hostQueue'>,
    Omit<CallToolPorts, 'metrics' | 'hostQueue'> {
  /** The MCP servers that PARLEY_MCP_SERVERS names. */
  mcp: Pick<McpServers, 'request' | 'has'>;
  close(): Promise<void>;
}

/**
 * What a worker keeps and runs beside its agents, from the configuration: memory, the audit log, snapshots, tasks, tools. Files are
 * made when they are first needed; MCP servers are reached at once.
 * @throws ParleyError invalid_request for a file of MCP servers that cannot be used
 */
export const openWorkerParts = (
  config: Config,
  environment: NodeJS.ProcessEnv,
  sandbox: SandboxPort,
  logger: Logger,
): WorkerParts => {
  const { dataFolder } = config;
  const servers = openMcpServers(readMcpServers(config.mcpServersFile, environment), environment);
  const onError = (error: unknown, what: string): void => logger.warn({ err: error }, what);
  const snapshots = createSnapshots(join(dataFolder, 'snapshots'));
  const identity = workerIdentity();
  const execution = createExecution({
    sandbox,
    snapshots,
    admission: admissionFaults,
    folder: join(dataFolder, 'executions'),
    worker: { identity, isRunning },
    onError,
  });
  const { memory, mirror, close } = openMemory({
    dataFolder,
    mongodbUri: config.mongodbUri,
    embeddingModel: config.embeddingModel,
    environment,
    onError,
  });
  const namespaces = join(dataFolder, 'namespaces');
  const tools = createAgentTools({
    sources: [
      fileTools(namespaces),
      shellTools({ sandbox, admission: admissionFaults, namespaces }),
      ...servers.sources,
    ],
    onFailure: ({ source, message }) => logger.warn({ source }, `tools of ${source}: ${message}`),
  });
  void tools.open(); // whoever needs them waits for them
  const audit = createAuditLog({ folder: auditFolder(dataFolder), keyFile: config.auditKeyFile, now: Date.now });
  return {
    environment: config.identity,
    workspaces: { allowed: config.workspaces, dataFolder },
    sandbox,
    snapshots,
    execution,
    memory,
    mirror,
    audit,
    namespaces,
    inputFolders: config.workspaces,
    functionsFolder: config.functionsFolder,
    artifacts: openStores(config).artifacts,
    onError,
    tools,
    mcp: servers,
    toolRecords: new Records(join(dataFolder, 'executions')),
    workerIdentity: identity,
    close: async () => {
      await tools.close();
      audit.close();
      await close();
    },
  };
};
