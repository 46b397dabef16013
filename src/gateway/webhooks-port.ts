import type { WebhookList, WebhookState, WebhookStatus } from '../contracts/webhook.js';

export interface WebhookFilter {
  state?: WebhookState | undefined;
  tenant?: string | undefined;
  cursor?: string | undefined;
  /** 1–200. */
  limit: number;
}

/** Deliveries of events to whom a piece of work names. */
export interface WebhooksPort {
  /** Pending ones first, then the newest. @throws ParleyError invalid_request for a cursor that is none of ours, unavailable */
  list(filter: WebhookFilter): Promise<WebhookList>;
  /** @throws ParleyError not_found, unavailable */
  status(id: string): Promise<WebhookStatus>;
  /** Begins anew with one that has ended. @throws ParleyError not_found, wrong_state (it is pending), unavailable */
  redeliver(id: string): Promise<void>;
}
