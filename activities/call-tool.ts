import { createHash } from 'node:crypto';
import { Context } from '@temporalio/activity';
import type { ToolError } from '../src/contracts/agent-tools.js';
import type { Json } from '../src/contracts/frames.js';
import { ParleyError } from '../src/domain/errors.js';
import { isObject } from '../src/domain/model-json.js';
import type { SharedFolder } from '../src/domain/team/turn-start.js';
import { toolRefusal, type ToolRights } from '../src/domain/team/tool-use.js';
import { toFailure } from '../src/failure.js';
import { failSpan, inSpan, workContext } from '../src/tracing.js';
import { beating } from './asking.js';
import type { Records } from './execution/records.js';
import type { WorkMetrics } from './metrics.js';
import { refusalOf } from './tools/answers.js';
import { endOf, leftUntil, waitedMs } from './time-left.js';
import type { AgentTools, ToolCall } from './tools/port.js';
import { resolveWorkspace, type WorkspaceRules } from './workspace.js';

export interface CallToolPorts {
  tools: AgentTools;
  metrics: WorkMetrics;
  workspaces: WorkspaceRules;
  /** What became of calls that must not be made twice. */
  toolRecords: Records;
  /** Names this process. */
  workerIdentity: string;
  /** The queue that only workers with this one's folders take from. */
  hostQueue: string;
}

export interface PrepareToolsInput {
  /** null: each agent has a folder of its own. */
  workspace: SharedFolder | null;
}

export interface PreparedTools {
  /** Where calls have to run from here on: the folders are there. */
  hostQueue: string;
  /** With every link followed. */
  workspace: SharedFolder | null;
}

/** Plain JSON. */
export interface CallToolInput extends Omit<ToolCall, 'folderOf' | 'workspace'>, ToolRights {
  traceId: string;
  /** Left out: the agent's own. */
  folderOf?: string;
  /** As `prepareTools` answered it. */
  workspace: SharedFolder | null;
  /** That the budget of its team leaves it, in milliseconds from when it was wanted; left out: no limit. */
  timeLeftMs?: number;
}

/** Any characters may stand in a call's id. */
const recordOf = ({ callId }: CallToolInput): string =>
  `tool.${createHash('sha256').update(callId).digest('hex').slice(0, 32)}`;

const interrupted = (name: string): ToolError => ({
  status: 'error',
  code: 'interrupted',
  message: `${name} was begun, and then its worker died: it may have happened in whole, in part or not at all. It was not done again; look at what is there before you do`,
});

/** What its agent is answered: whether the agent ends, or is given more time, its team says when it reads on. */
const outOfTime = (name: string, hasBegun: boolean): ToolError => ({
  status: 'error',
  code: 'EBUDGET',
  message: hasBegun
    ? `${name} was ended, as the time that its budget had left was over: it may have happened in whole, in part or not at all`
    : `${name} was not called, as nothing of the time of its budget was left`,
});

/** Milliseconds of the longest timer that there is; no call of a tool takes so long, and a budget may last for a year. */
const longestTimerMs = 2_147_483_647;

/** Why a call ends before it has ended by itself. */
interface Ends {
  /** Whoever cancels it, or stops the worker. */
  signal: AbortSignal;
  /** Its time. */
  late: AbortSignal;
}

/** @param leftMs whole milliseconds, or Infinity */
const after = (leftMs: number): AbortSignal => {
  if (leftMs === Infinity) return new AbortController().signal;
  return leftMs === 0 ? AbortSignal.abort() : AbortSignal.timeout(Math.min(leftMs, longestTimerMs));
};

const outcomeOf = (answer: Json): string => {
  if (!isObject(answer) || answer['status'] !== 'error') return 'ok';
  return typeof answer['code'] === 'string' ? answer['code'] : 'error';
};

/** The tools of agents that are not about agents (spec 05). */
export const createToolActivities = (ports: CallToolPorts) => {
  const { tools, metrics, workspaces, toolRecords: records, workerIdentity: owner, hostQueue } = ports;

  const carryOut = async (input: CallToolInput, { signal, late }: Ends): Promise<Json> => {
    if (late.aborted) return { ...outOfTime(input.name, false) };
    const ends = AbortSignal.any([signal, late]);
    try {
      const workspace = input.workspace && {
        ...input.workspace,
        path: await resolveWorkspace(input.workspace.path, workspaces, input.workspace.ofRun),
      };
      return await tools.call({ ...input, folderOf: input.folderOf ?? input.agentId, workspace }, ends);
    } catch (error) {
      if (late.aborted && !signal.aborted) return { ...outOfTime(input.name, true) };
      // What was refused before anything was done.
      if (error instanceof ParleyError && !signal.aborted) return refusalOf(input.name, error);
      throw error;
    }
  };

  /** A call that is not to be made twice is recorded before it is made, and with its answer before anybody hears of that. */
  const carryOutOnce = async (input: CallToolInput, ends: Ends): Promise<Json> => {
    const { workId, name } = input;
    const record = recordOf(input);
    if (Context.current().info.attempt > 1) {
      const stage = await records.read<Json>(workId, record);
      if (stage?.stage === 'finished') return stage.report;
      if (stage !== null) return interrupted(name);
    }
    await records.write(workId, record, { stage: 'started', attempt: 1, owner });
    const answer = await carryOut(input, ends);
    await records.write(workId, record, { stage: 'finished', report: answer });
    return answer;
  };

  return {
    /**
     * Whether a team's shared folder may be used at all, before any model is paid for; and where its calls have to run.
     * @throws `invalid_request`, `ESEC` where the operator does not allow it
     */
    prepareTools: async ({ workspace }: PrepareToolsInput): Promise<PreparedTools> => {
      if (workspace === null) return { hostQueue, workspace };
      try {
        return {
          hostQueue,
          workspace: { ...workspace, path: await resolveWorkspace(workspace.path, workspaces, workspace.ofRun) },
        };
      } catch (error) {
        if (error instanceof ParleyError) throw toFailure(error);
        throw error;
      }
    },

    /**
     * One call of a tool, on `hostQueue`: `{status: "ok", ...}`, or `{status: "error", code, message}` for whatever is wrong with
     * the call and whatever the tool makes of it. After a worker died, what only looks is called again; what may have changed
     * something is not, and the answer says so (`interrupted`). One that takes all the time that its budget had left is ended, and
     * answers `EBUDGET`.
     */
    callTool: async (input: CallToolInput): Promise<Json> => {
      const { workId, traceId, agentId, callId, name } = input;
      const endsAt = endOf(input.timeLeftMs, waitedMs());
      const { attempt } = Context.current().info;
      const began = performance.now();
      const endWork = metrics.agentBegan(workId, agentId);
      const attributes = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'gen_ai.tool.call.id': callId,
        'gen_ai.agent.id': agentId,
        team_id: workId,
        attempt,
      };
      return await beating((signal) =>
        inSpan(`execute_tool ${name}`, attributes, workContext({ id: workId, traceId }), async (span) => {
          let outcome = 'failed';
          try {
            const call = tools.isRepeatable(name) ? carryOut : carryOutOnce;
            const answer = toolRefusal(name, input) ?? (await call(input, { signal, late: after(leftUntil(endsAt)) }));
            outcome = outcomeOf(answer);
            if (outcome !== 'ok') failSpan(span, outcome);
            return answer;
          } catch (error) {
            if (!signal.aborted) throw error;
            outcome = 'cancelled';
            return await Context.current().cancelled;
          } finally {
            endWork();
            metrics.toolCalled(tools.isKnown(name) ? name : 'unknown', outcome, performance.now() - began);
          }
        }),
      );
    },
  };
};
export type ToolActivities = ReturnType<typeof createToolActivities>;
