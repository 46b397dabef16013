import type { InputArtifact } from '../../contracts/fan-out.js';
import type { Criterion } from '../../contracts/rubric.js';

/** Longer inputs are files alone. */
const shownInputCharacters = 64_000;

/** What a worker is asked. Inputs that come as text are part of it: models see no files. */
export const taskPrompt = ({ prompt, inputs }: { prompt: string; inputs: readonly InputArtifact[] }): string =>
  [
    prompt,
    ...inputs.flatMap((input) =>
      typeof input === 'string' || input.content.length > shownInputCharacters
        ? []
        : [`--- ${input.path}\n${input.content}`],
    ),
  ].join('\n\n');

const criterionLine = ({ criterion, description }: Criterion): string =>
  `- ${criterion}${description ? `: ${description}` : ''}`;

/** What the critic of a fan-in is asked; `value`: the combined result as JSON. */
export const scorePrompt = (rubric: readonly Criterion[], value: string): string =>
  `Score this result, from 0 to 1 for each criterion:\n${rubric.map(criterionLine).join('\n')}\n\n${value}`;
