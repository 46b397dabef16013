import { Context } from '@temporalio/activity';
import type { LaneReport } from '../src/domain/lane.js';
import { judgement } from '../src/domain/prompts.js';
import { ask, AskError, type Answered, type AskInput } from './ask.js';
import { asking, startBeating } from './asking.js';
import { CallWaits } from './call-waits.js';
import type { GroupInput, GroupPorts } from './group.js';
import { LaneGroup } from './lane-group.js';

/** What sessions have done: groups of lanes, and single questions to judges, arbiters and mergers. */
export const createSessionActivities = (ports: Omit<GroupPorts, 'now'>) => {
  const { agents, link, metrics } = ports;
  // A run that continues as new schedules its lanes again; on the same worker the calls under way are taken over.
  const groups = new Map<string, { group: LaneGroup; waits: CallWaits; owner: symbol; epoch: number }>();
  return {
    /**
     * Runs a group of lanes to their ends. @returns what was not signalled while they ran. A later attempt skips lanes
     * that the workflow already counts as ended.
     */
    runLanes: async (input: GroupInput): Promise<LaneReport[]> => {
      const context = Context.current();
      const key = `${input.workId} ${input.group}`;
      const owner = Symbol(key);
      const { epoch = 0 } = input;
      const running = groups.get(key);
      // What ran before a restore belongs to what was left.
      const isLeft = running !== undefined && running.epoch !== epoch;
      if (isLeft) running.group.abandon();
      const waits = (isLeft ? undefined : running?.waits) ?? new CallWaits();
      let group = isLeft ? undefined : running?.group;
      if (!group) {
        const attempt = input.attempt + context.info.attempt - 1;
        const skip = attempt > 1 ? (await link.directives(input.workId)).ended : [];
        const begun = new LaneGroup(input, attempt, skip, { ...ports, now: Date.now });
        waits.around(() => begun.start());
        group = begun;
      }
      groups.set(key, { group, waits, owner, epoch });
      const isOwner = (): boolean => groups.get(key)?.owner === owner;
      const stopBeating = startBeating(waits);
      const stopped = new Promise<never>((_, reject) => {
        context.cancelled.catch((error: unknown) => {
          if (isOwner()) group.abandon();
          reject(error instanceof Error ? error : new Error(String(error)));
        });
      });
      try {
        return await Promise.race([group.done, stopped]);
      } finally {
        stopBeating();
        if (isOwner()) groups.delete(key);
      }
    },

    /** One question to one agent: the arbiter or a merge. */
    askAgent: async (input: AskInput): Promise<Answered> =>
      await asking(input, metrics, (signal, trace) => ask(agents, input, signal, trace)),

    /** Asks the judge which answers agree. @throws EPROTO when its answer names other ids or no groups */
    judgeAnswers: async (input: AskInput & { ids: string[] }): Promise<Answered & { partition: string[][] }> =>
      await asking(input, metrics, async (signal, trace) => {
        const answered = await ask(agents, input, signal, trace);
        const partition = judgement(answered.answer, input.ids);
        if (typeof partition === 'string') throw new AskError('EPROTO', partition, answered.usage);
        return { ...answered, partition };
      }),
  };
};
export type SessionActivities = ReturnType<typeof createSessionActivities>;
