import { askModel, type AskedModel, type AskModelInput, type AskModelPorts } from './ask-model.js';

/** What agents of a team have done (spec 05). */
export const createAgentActivities = (ports: AskModelPorts) => ({
  /** One call of an agent's model, its answer read. */
  askModel: (input: AskModelInput): Promise<AskedModel> => askModel(input, ports),
});
export type AgentActivities = ReturnType<typeof createAgentActivities>;
