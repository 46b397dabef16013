// Who answers what is asked on the page.

/** Personas that need no model: they differ in speed and one of them objects, so that a session shows all it does. */
export const simulatedTeam = (question) => {
  const subject = question.trim().split('\n')[0];
  const answer = `A simulated answer to: ${subject}`;
  const seat = (lane_id, tier, said, first_token_ms, tokens_per_second) => ({
    lane_id,
    tier,
    adapter: { kind: 'simulated', answer: said, accuracy: 1, first_token_ms, tokens_per_second },
  });
  return {
    // The objection is known as one before the first answer ends, so that nobody takes the first answer for agreement.
    lanes: [
      seat('quick', 'bronze', answer, 200, 30),
      seat('contrary', 'bronze', `A simulated objection to: ${subject}`, 100, 30),
      seat('steady', 'silver', answer, 1000, 15),
      seat('thorough', 'gold', answer, 4000, 12),
    ],
    agreement: { method: 'choice', choice: { regex: '^A simulated (\\w+) to:' } },
  };
};

const shortFirst =
  'Begin with one line "ANSWER: " and the shortest answer that says it all, in lower case where spelling allows, and end it ' +
  'with a full stop. Then explain in at most three sentences.';

/** A lane per chosen model; their short answers are compared, not their prose. */
export const modelTeam = (seats) => ({
  lanes: seats.map(({ kind, model, tier }, index) => ({
    lane_id: `${kind}-${index + 1}`,
    tier,
    persona: { persona_id: model || `${kind}-${index + 1}`, instructions: shortFirst },
    adapter: { kind, model: model.trim() },
  })),
  agreement: { method: 'choice', choice: { regex: 'ANSWER:\\s*([^\\n.]+)[.\\n]' } },
});

const wordByWord = (text, wordMs) => text.match(/\S+\s*/g).map((partial) => ({ after_ms: wordMs, partial }));

/** Says `text` word by word, then gives `final`. */
const saying = (text, wordMs, final = text) => [...wordByWord(text, wordMs), { after_ms: wordMs, final }];

/** A generator and a critic that need no model: the second version is better, the third good enough. */
export const simulatedPair = (task) => {
  const subject = task.trim().split('\n')[0];
  const versions = [
    `A first simulated version of: ${subject}. It says many things, some of them twice, and takes its time.`,
    `A second simulated version of: ${subject}. It says what matters, and takes its time.`,
    `A third simulated version of: ${subject}. It says what matters.`,
  ];
  const critiques = [
    [0.5, 0.6, 'Leave out what is said twice.'],
    [0.8, 0.7, 'Shorter.'],
    [0.9, 0.9, 'Nothing is left to take away.'],
  ].map(([clarity, brevity, feedback]) => JSON.stringify({ scores: { clarity, brevity }, feedback }));
  return {
    generator: { adapter: { kind: 'scripted', script: versions.flatMap((text) => saying(text, 120)) } },
    critic: {
      adapter: { kind: 'scripted', script: critiques.map((final) => ({ after_ms: 1_200, final })) },
      scoring: {
        rubric: [
          { criterion: 'clarity', weight: 1 },
          { criterion: 'brevity', weight: 1 },
        ],
      },
    },
  };
};

/** A model in both parts, scored by the default rubric. */
export const modelPair = (adapter) => ({ generator: { adapter }, critic: { adapter } });

const keyOf = (index) => `task_${index + 1}`;

/** Workers that need no model: they differ in speed and in one of their words, so that there is a conflict to settle. */
export const simulatedWorkers = (prompts) => ({
  agents: ['ada', 'bob', 'cyd'].map((agent_id) => ({ agent_id })),
  tasks: prompts.map((prompt, index) => {
    const said = `A simulated answer to: ${prompt}`;
    const final = { [keyOf(index)]: said, confidence: (7 + (index % 3)) / 10 };
    const adapter = { kind: 'scripted', script: saying(said, 120 + 60 * (index % 4), final) };
    return { task_id: keyOf(index), prompt, input_artifacts: [], adapter };
  }),
});

/** One agent with a model; each of its answers is an object of its own, so that they can be merged. */
export const modelWorkers = (prompts, adapter) => ({
  agents: [{ agent_id: 'worker', adapter }],
  tasks: prompts.map((prompt, index) => ({
    task_id: keyOf(index),
    prompt: `${prompt}\n\nAnswer with one JSON object and nothing else: {"${keyOf(index)}": "your answer"}`,
    input_artifacts: [],
  })),
});

/** An answer that calls one tool. */
const calling = (name, given) => ({ final: { text: '', tool_calls: [{ name, arguments: given }] } });

/** A lead and two readers that need no model: they differ in speed, and tell the lead what they have found. */
export const simulatedAgents = (task) => {
  const subject = task.trim().split('\n')[0];
  const reader = (agent_id, where, wordMs) => ({
    agent_id,
    role: 'reader',
    parent: 'lead',
    prompt: `Read ${where}.`,
    adapter: {
      kind: 'scripted',
      script: [
        ...wordByWord(`A simulated reading of ${where}, for: ${subject} It takes a while to read all of it.`, wordMs),
        calling('send_message', { target: 'lead', content: `I have read ${where}.` }),
        ...saying(`A simulated finding in ${where}.`, wordMs),
      ],
    },
  });
  const script = [
    calling('wait_for_agents', { ids: ['ada', 'bob'] }),
    ...saying(`A simulated answer to: ${subject}`, 120),
  ];
  return [
    { agent_id: 'lead', role: 'planner', prompt: task, adapter: { kind: 'scripted', script } },
    reader('ada', 'the code', 120),
    reader('bob', 'the logs', 200),
  ];
};

/** One agent with a model, which may spawn others with the same. */
export const modelAgents = (task, adapter) => [{ agent_id: 'lead', role: 'planner', adapter, prompt: task }];
