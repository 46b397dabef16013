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
  return shape.length === 0 ? instructions : `${shape.join('\n')}\n\n${instructions}`;
};
