import type { ContextMessage } from '../../src/domain/team/context/message.js';

/** A message of an agent's context; only what matters is given. */
export const contextMessage = (messageId: number, given: Partial<ContextMessage>): ContextMessage => ({
  messageId,
  category: 'dialog',
  role: 'user',
  content: '',
  tokens: 1,
  calls: [],
  resultOf: null,
  ...given,
});
