import type { AgentCard } from '@a2a-js/sdk';
import type { PanelsPort } from '../openai/panels.js';
import { version } from '../version.js';

type Skill = AgentCard['skills'][number];

const skill = (id: string, description: string, examples: string[] = []): Skill => ({
  id,
  name: id,
  description,
  tags: ['panel'],
  examples,
  inputModes: [],
  outputModes: [],
  securityRequirements: [],
});

const ask = skill(
  'ask',
  'Puts a question to several agents in parallel and answers with what they agree on, and how far they do.',
  ['Which colour is the sky?'],
);

const panelSkill = ({ id, description }: PanelsPort['names'][number]): Skill =>
  skill(id, `${description ?? 'A panel of this installation.'} Name it as \`model\` in the metadata of a message.`);

/**
 * What Parley says of itself to agents. Whoever may call is told the panels; everybody else only that there is something to ask.
 * @param url of the JSON-RPC endpoint
 */
export const agentCard = (
  url: string,
  { needsKey, panels }: { needsKey: boolean; panels: PanelsPort['names'] | null },
): AgentCard => ({
  name: 'Parley',
  description:
    'Teams of AI agents as durable work: a question is answered by a panel of them, and goes on through any crash.',
  supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({
    url,
    protocolBinding: 'JSONRPC',
    tenant: '',
    protocolVersion,
  })),
  provider: undefined,
  version,
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: true },
  securitySchemes: needsKey
    ? {
        key: {
          scheme: {
            $case: 'httpAuthSecurityScheme',
            value: { description: 'A key of this installation.', scheme: 'Bearer', bearerFormat: '' },
          },
        },
      }
    : {},
  securityRequirements: needsKey ? [{ schemes: { key: { list: [] } } }] : [],
  defaultInputModes: ['text/plain', 'application/json'],
  defaultOutputModes: ['text/plain', 'application/json'],
  skills: [ask, ...(panels ?? []).map(panelSkill)],
  signatures: [],
});
