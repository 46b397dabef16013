import { Context } from '@temporalio/activity';
import type { BusPort } from '../src/contracts/bus.js';
import type { GroupLink } from './group.js';

export interface StopHintPorts {
  bus: BusPort;
  link: Pick<GroupLink, 'directives'>;
}

/**
 * Aborts as soon as the workflow of this activity says that `lane` has ended for it. Temporal tells of a cancel with the next beat
 * that it takes, which is seconds later: a model goes on speaking until then, and is paid for it.
 */
export const stopHint = ({ bus, link }: StopHintPorts, lane: string): { signal: AbortSignal; release: () => void } => {
  const { workflowId } = Context.current().info.workflowExecution ?? { workflowId: '' };
  const stopped = new AbortController();
  const look = async (): Promise<void> => {
    try {
      const { ended } = await link.directives(workflowId);
      if (ended.includes(lane)) stopped.abort();
    } catch (error) {
      // The beat tells it all the same.
      Context.current().log.debug('the workflow did not say whether it was stopped', { error: String(error) });
    }
  };
  const release = bus.subscribe(workflowId, ({ type }) => {
    if (type === 'directed') void look();
  });
  return { signal: stopped.signal, release };
};
