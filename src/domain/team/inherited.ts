import type { AgentTemplate } from '../../contracts/template.js';
import { agentTools } from './actions/tools.js';
import { matchesGlob } from './glob.js';
import type { AgentPlan } from './setup.js';

/** By which an agent's calls are judged. */
export type OwnRights = Pick<AgentPlan, 'tools'> & Partial<Pick<AgentPlan, 'template' | 'approvals'>>;

type Inherited = Pick<AgentPlan, 'tools' | 'template' | 'approvals'>;

/** Whether a name, or a pattern with stars, stands for nothing that another does not stand for. A "?" may not stand for a star. */
const isWithin = (granted: string, asked: string): boolean =>
  granted === asked || (!granted.includes('?') && matchesGlob(granted, asked));

/** Of a template what judges calls. */
const limitsOf = (capabilities: AgentTemplate['capabilities']): AgentTemplate | null =>
  capabilities === undefined ? null : { capabilities };

/**
 * What an agent that another spawns may do: never more than that one, whose rules hold for it as well. Spawning would else be the
 * way around every list.
 * @param asked tools that it is to have; undefined: those of who spawns it
 */
export const inheritedRights = (
  { tools, template, approvals }: OwnRights,
  asked: readonly string[] | undefined,
): { rights: Inherited; notes: string[] } => {
  const granted = tools ?? template?.capabilities?.allowed_tools ?? agentTools.map(({ name }) => name);
  const isGranted = (name: string): boolean => granted.some((one) => isWithin(one, name));
  const left = (asked ?? []).filter((name) => !isGranted(name));
  const rights: Inherited = {
    tools: asked === undefined ? tools : asked.filter(isGranted),
    template: limitsOf(template?.capabilities),
    ...(approvals !== undefined && { approvals }),
  };
  const notes = left.length === 0 ? [] : [`default_tools without ${left.join(', ')}: you may not call that yourself`];
  return { rights, notes };
};

/** An explorer has tools of its own, which only look: what is forbidden stays so, what is allowed is not asked. */
export const explorerRights = ({ template, approvals }: OwnRights): Omit<Inherited, 'tools'> => {
  const forbidden = template?.capabilities?.forbidden_actions;
  return {
    template: limitsOf(forbidden && { forbidden_actions: forbidden }),
    ...(approvals !== undefined && { approvals }),
  };
};
