// Who answers a question asked on the page.

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
