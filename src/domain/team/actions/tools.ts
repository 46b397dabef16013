import type { AgentToolName } from '../../../contracts/agent-tools.js';

export interface AgentTool {
  name: AgentToolName;
  /** For the model. */
  description: string;
  /** The argument that plain text in its action tag stands for; null: it is no action tag (details 3.2). */
  tagText: string | null;
}

/** The ten tools by which agents concern each other, six of which are action tags, too. One registry for both (spec 05). */
export const agentTools: readonly AgentTool[] = [
  {
    name: 'send_message',
    description: 'Sends a message to one agent or several, or to the human where no target is given.',
    tagText: 'content',
  },
  {
    name: 'spawn_sub_agent',
    description: 'Creates an agent under you. It has a context of its own unless you share yours.',
    tagText: 'initial_prompt',
  },
  {
    name: 'stop_sub_agent',
    description: 'Cancels what an agent does in the background; pauses what somebody waits for.',
    tagText: 'id',
  },
  { name: 'resume_sub_agent', description: 'Lets a paused agent go on where it was.', tagText: 'id' },
  {
    name: 'get_agent_status',
    description: 'Says in which state one agent is, or all of them with stats; results only on request.',
    tagText: null,
  },
  {
    name: 'wait_for_agents',
    description: 'Waits until agents have ended, at most `timeout` seconds. Waiting stops nobody.',
    tagText: null,
  },
  {
    name: 'get_context_info',
    description: 'Says with whom an agent shares its context window, and how full that is.',
    tagText: null,
  },
  {
    name: 'sync_context',
    description: 'Copies messages of some categories from one agent to another.',
    tagText: null,
  },
  {
    name: 'delegate',
    description:
      'Gives work to an agent that has nothing to do, and waits for its answer unless it is in the background.',
    tagText: 'content',
  },
  {
    name: 'delegate_explore_task',
    description: 'Lets a small, cheap model list, read and search files, and answers with its summary.',
    tagText: 'task',
  },
];

const byKey = new Map(agentTools.map((tool) => [tool.name.replaceAll('_', ''), tool]));

/** A tool by its name in a tag: case, hyphens and missing underscores do not count. */
export const toolOfTag = (name: string): AgentTool | undefined => byKey.get(name.toLowerCase().replace(/[-_]/g, ''));
/** A tool by its name in a function call. */
export const toolOfCall = (name: string): AgentTool | undefined => agentTools.find((tool) => tool.name === name);

export const tagNames: readonly string[] = agentTools.flatMap(({ name, tagText }) => (tagText === null ? [] : name));
