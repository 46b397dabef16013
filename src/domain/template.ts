import type { Adapter } from '../contracts/adapter.js';
import type { AgentTemplate } from '../contracts/template.js';

/** What is wrong with a template where it is used, by path within it. */
export interface TemplateFault {
  path: string[];
  message: string;
}

/** What the two agents of a refinement always are (spec 04). */
const modeOf = { generator: 'divergent', critic: 'convergent' } as const;

/** Why an agent of this template cannot be the generator or the critic of a refinement; none: it can. */
export const loopFaults = (template: AgentTemplate, role: 'generator' | 'critic'): TemplateFault[] => {
  const faults: TemplateFault[] = [];
  const mode = template.identity?.cognitive_mode;
  const fits = template.quality_loop?.role;
  if (mode !== undefined && mode !== modeOf[role]) {
    const message = `must be ${modeOf[role]}, as a ${role} always is, or be left out; got "${mode}"`;
    faults.push({ path: ['identity', 'cognitive_mode'], message });
  }
  if (fits !== undefined && fits !== role) {
    const message = `must be ${role}, or be left out; an agent for "${fits}" is no ${role}`;
    faults.push({ path: ['quality_loop', 'role'], message });
  }
  return faults;
};

/** What a template asks for that no agent of a fan-out or a refinement has: left standing, nothing would come of it. */
export const unservedFaults = (
  template: AgentTemplate,
  kind: 'fan-out' | 'refinement',
  agentId: string,
): TemplateFault[] => {
  const { capabilities, parallel, state } = template;
  const faults: TemplateFault[] = [];
  if ((capabilities?.allowed_tools ?? []).length > 0) {
    const message = `would be enforced by nobody: agents of a ${kind} are given no tools. Leave it out; what a program may do is set by its sandbox`;
    faults.push({ path: ['capabilities', 'allowed_tools'], message });
  }
  const namespace = parallel?.output_namespace;
  if (namespace !== undefined && (kind === 'refinement' || namespace !== agentId)) {
    const where =
      kind === 'refinement'
        ? 'a refinement has no namespaces'
        : `the namespace of a worker is {workflow_id}/{agent_id}/{task_id}: it can only be ${JSON.stringify(agentId)}`;
    faults.push({
      path: ['parallel', 'output_namespace'],
      message: `${where}; leave it out, got ${JSON.stringify(namespace)}`,
    });
  }
  if (kind === 'fan-out') return faults;
  if (state?.schema !== undefined) {
    const message = 'is not checked in a refinement; leave it out, or put it in the task';
    faults.push({ path: ['state', 'schema'], message });
  }
  if (state?.output_key !== undefined) {
    const message = `has no use in a refinement, which has one output, at result.output; leave it out, got ${JSON.stringify(state.output_key)}`;
    faults.push({ path: ['state', 'output_key'], message });
  }
  return faults;
};

const leftOut = (value: unknown): string => `leave it out, got ${JSON.stringify(value)}`;

/** Where agents neither combine answers nor are sent critiques. */
type Together = 'team' | 'session' | 'debate';
const noCritique: Readonly<Record<Together, string>> = {
  team: 'where nobody is sent a critique',
  session: 'where nobody is sent a critique',
  debate: 'where each role is given all that was said before it',
};

/** What a template asks for that there is in fan-outs and refinements alone. */
const unservedTogether = (kind: Together, { parallel, quality_loop: loop }: AgentTemplate): TemplateFault[] => {
  const faults: TemplateFault[] = [];
  const fault = (group: string, member: string, message: string): void =>
    void faults.push({ path: [group, member], message });
  if (parallel?.output_namespace !== undefined)
    fault('parallel', 'output_namespace', `a ${kind} has no namespaces; ${leftOut(parallel.output_namespace)}`);
  if (parallel?.aggregation_role !== undefined && parallel.aggregation_role !== 'none') {
    const message = `must be none, as a ${kind} has no fan-in, or be left out; got "${parallel.aggregation_role}"`;
    fault('parallel', 'aggregation_role', message);
  }
  if (loop?.role !== undefined && loop.role !== 'none') {
    const message = `must be none, or be left out; an agent for "${loop.role}" is none of a ${kind}, but of a refinement`;
    fault('quality_loop', 'role', message);
  }
  if (loop?.scoring_rubric !== undefined)
    fault('quality_loop', 'scoring_rubric', `is scored by nobody in a ${kind}; leave it out, or start a refinement`);
  if (loop?.accepts_feedback !== undefined) {
    const message = `has no effect in a ${kind}, ${noCritique[kind]}; ${leftOut(loop.accepts_feedback)}`;
    fault('quality_loop', 'accepts_feedback', message);
  }
  return faults;
};

/** The same of an agent of a team, which has tools, a checked answer and its key, but neither fan-in nor critique. */
export const unservedInTeam = (template: AgentTemplate): TemplateFault[] => {
  const faults: TemplateFault[] = [];
  if (template.parallel?.supports_isolation === false) {
    const message =
      'rules a team out: each agent has its own context and folder there. Leave it out, and say by share_session, share_context_window and the workspace of the team what it shares';
    faults.push({ path: ['parallel', 'supports_isolation'], message });
  }
  return [...faults, ...unservedTogether('team', template)];
};

const ofSpeaker = {
  session: {
    tools: 'lanes of a session are given no tools. Leave it out; what a program may do is set by its sandbox',
    schema: 'is not checked in a session; leave it out, or put it in the prompt',
    key: 'has no use in a session, which has one answer, at result.answer',
  },
  debate: {
    tools: 'roles of a debate are given no tools. Leave it out; what tasks may do is set by their sandbox',
    schema: 'is not checked in a debate, whose roles answer in a form of their own; leave it out',
    key: 'has no use in a debate, where every answer is a statement',
  },
} as const;

/** The same of a lane of a session and of a role of a debate, which call no tools, and whose answers the kind of work reads by itself. */
export const unservedOfSpeaker = (kind: keyof typeof ofSpeaker, template: AgentTemplate): TemplateFault[] => {
  const { capabilities, state } = template;
  const words = ofSpeaker[kind];
  const faults: TemplateFault[] = [];
  if ((capabilities?.allowed_tools ?? []).length > 0)
    faults.push({ path: ['capabilities', 'allowed_tools'], message: `would be enforced by nobody: ${words.tools}` });
  if (state?.schema !== undefined) faults.push({ path: ['state', 'schema'], message: words.schema });
  if (state?.output_key !== undefined)
    faults.push({ path: ['state', 'output_key'], message: `${words.key}; ${leftOut(state.output_key)}` });
  return [...faults, ...unservedTogether(kind, template)];
};

/** Why a template's model is not the one that would answer; none: it is, or none is named. */
export const modelFaults = ({ identity }: AgentTemplate, adapter: Adapter | undefined): TemplateFault[] => {
  const model = identity?.model;
  if (model === undefined || !adapter || !('model' in adapter) || adapter.kind === 'simulated') return [];
  if (adapter.model === model) return [];
  const message = `must be the adapter's own model "${adapter.model}", or be left out; got "${model}"`;
  return [{ path: ['identity', 'model'], message }];
};

const listed = (label: string, values: readonly string[] | undefined): string[] =>
  values === undefined || values.length === 0 ? [] : [`${label}: ${values.join(', ')}.`];
const named = (label: string, value: string | undefined): string[] => listed(label, value === undefined ? [] : [value]);

/** Instructions as identity and persona shape them (spec 10 "Agent template"): who the agent is comes before what it does. */
export const shapedInstructions = (template: AgentTemplate | undefined, instructions: string): string => {
  const { identity, persona, capabilities } = template ?? {};
  const shape = [
    ...named('You are', identity?.role),
    ...listed('You know about', identity?.expertise),
    ...named('Your tone', persona?.tone),
    ...named('Your style', persona?.style),
    ...named('Formality', persona?.formality),
    ...listed('You never do this', capabilities?.forbidden_actions),
  ];
  return [shape.join('\n'), instructions].filter((part) => part !== '').join('\n\n');
};
