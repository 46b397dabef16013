import type { ClientKind } from '../client.js';
import type { CommandContext } from '../context.js';
import { exitCodes, UsageError } from '../errors.js';

export interface AnswerOptions {
  request?: string;
  comment?: string;
  as?: string;
  /** Of a budget, from now on. */
  maxUsd?: number;
  maxTokens?: number;
  maxSeconds?: number;
}

/**
 * `parley KIND answer ID RESPONSE`: answers the open request for feedback. What was asked is bound to the answer by its
 * digest, so that nobody approves what has changed since it was looked at.
 */
export const answerWork = async (
  kind: ClientKind & ('debate' | 'run' | 'team'),
  id: string,
  response: string,
  { request, comment, as, maxUsd, maxTokens, maxSeconds }: AnswerOptions,
  context: CommandContext,
): Promise<number> => {
  const { feedback } = await context.client.status(kind, id);
  const open = feedback.findLast(({ state }) => state === 'open');
  const asked = request === undefined ? open : feedback.find((each) => each.request.request_id === request);
  if (!asked && request === undefined) throw new UsageError(`${kind} ${id} asks nothing now.`);
  const digest = asked?.request.digest;
  const limits = {
    ...(maxUsd !== undefined && { max_usd: maxUsd }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(maxSeconds !== undefined && { max_seconds: maxSeconds }),
  };
  const receipt = await context.client.feedback(kind, id, {
    request_id: request ?? asked?.request.request_id ?? '',
    response,
    ...(digest ? { digest } : {}),
    ...(comment === undefined ? {} : { comment }),
    ...(as === undefined ? {} : { provided_by: as }),
    ...(Object.keys(limits).length > 0 && { limits }),
  });
  if (context.json) context.out(JSON.stringify(receipt, null, 2));
  else {
    const { outcome, approvals, needed } = receipt;
    context.out(outcome === 'pending' ? `counted: ${approvals} of ${needed} approvals` : outcome.replaceAll('_', ' '));
  }
  return exitCodes.ok;
};
