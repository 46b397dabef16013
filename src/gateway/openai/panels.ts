import { readFileSync } from 'node:fs';
import { ConfigError } from '../../config.js';
import { type Panel, panelsFileSchema } from '../../contracts/panel.js';
import { openSessionSchema } from '../../contracts/session.js';
import type { Fault } from '../../faults.js';
import { parseWhole } from '../../parse.js';
import { ProblemError } from '../problem.js';

/** The name under which the panel of the installation is asked. */
export const presetName = 'parley';

/** Who answers by which model name. */
export interface PanelsPort {
  /** In the order in which they are listed. */
  readonly names: readonly { id: string; description: string | null }[];
  /**
   * @param question what was asked last, in the user's words
   * @throws ProblemError model_not_found, unavailable (the installation's own models cannot be listed)
   */
  panel(name: string, question: string): Promise<Panel>;
}

/** Who answers where nothing else is configured. */
export type PresetPanel = (question: string) => Promise<Panel>;

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What of a panel is of its sessions. */
export const sessionPartOf = ({ lanes, policy, budget, labels }: Panel): Omit<Panel, 'description'> => ({
  lanes,
  ...(policy && { policy }),
  ...(budget && { budget }),
  ...(labels && { labels }),
});

/** Every fault of a panel as the session that it will be. */
const faultsOf = (name: string, panel: Panel): Fault[] => {
  const parsed = parseWhole(openSessionSchema, { ...sessionPartOf(panel), prompt: 'a question' });
  return parsed.ok ? [] : parsed.faults.map(({ path, message }) => ({ path: `models.${name}.${path}`, message }));
};

/** YAML, of which JSON is a part. @throws ConfigError naming every fault by its path */
const readPanels = async (file: string): Promise<Record<string, Panel>> => {
  const refused = (...messages: string[]): ConfigError =>
    new ConfigError(messages.map((message) => ({ variable: 'PARLEY_MODELS', message: `${file}: ${message}` })));
  let document: unknown;
  try {
    const text = readFileSync(file, 'utf8');
    const { parse } = await import('yaml');
    document = parse(text);
  } catch (error) {
    throw refused(reasonOf(error));
  }
  const parsed = parseWhole(panelsFileSchema, document);
  const panels = parsed.ok ? (document as { models: Record<string, Panel> }).models : {};
  const faults = parsed.ok ? Object.entries(panels).flatMap(([name, panel]) => faultsOf(name, panel)) : parsed.faults;
  if (faults.length > 0) throw refused(...faults.map(({ path, message }) => `${path} ${message}`));
  return panels;
};

/**
 * The panels of the file of PARLEY_MODELS, which is read once, and the installation's own as `parley`, unless the file has one
 * of that name.
 * @throws ConfigError
 */
export const createPanels = async (file: string | null, preset: PresetPanel): Promise<PanelsPort> => {
  const panels = file === null ? {} : await readPanels(file);
  const hasPreset = !Object.hasOwn(panels, presetName);
  const names = [
    ...(hasPreset
      ? [{ id: presetName, description: 'The models of this installation; simulated ones without any.' }]
      : []),
    ...Object.entries(panels).map(([id, { description }]) => ({ id, description: description ?? null })),
  ];
  return {
    names,
    panel: async (name, question) => {
      const panel = Object.hasOwn(panels, name) ? panels[name] : undefined;
      if (panel) return panel;
      if (hasPreset && name === presetName) return await preset(question);
      const there = names.map(({ id }) => id).join(', ');
      throw new ProblemError('model_not_found', `There is no model ${JSON.stringify(name)}; there are ${there}.`);
    },
  };
};
