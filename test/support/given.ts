import type { GivenFeedback } from '../../src/contracts/feedback.js';

/** What a person answers, over HTTP and without a key; to a request that nobody has made, unless told otherwise. */
export const given = (response: string, more: Partial<GivenFeedback> = {}): GivenFeedback => ({
  request_id: 'fr-20261121-000000',
  response,
  comment: null,
  digest: null,
  provided_by: 'anna',
  authenticated: false,
  source: 'http',
  ...more,
});
