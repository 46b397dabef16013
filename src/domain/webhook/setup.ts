import type { WebhookEvent, WebhookEventName } from '../../contracts/webhook.js';

/** What a delivery is started as. */
export const webhookWorkflowType = 'webhook';

/**
 * Which addresses a target may have, as the operator's configuration had it at the start. `public`: those of the internet;
 * `local`: private ones and this machine's too; `any`: the operator has named the host.
 */
export type WebhookReach = 'public' | 'local' | 'any';

/** A webhook with everything decided that depends on the operator's configuration. */
export interface WebhookSetup {
  url: string;
  /** The variable of the worker that holds the secret; null: events are not signed. */
  secretEnv: string | null;
  events: WebhookEventName[];
  reach: WebhookReach;
  /** Milliseconds from the first attempt on in which others follow. */
  retryMs: number;
  /** Path of the work's status. */
  source: string;
}

/** What the workflow of one delivery is started with. */
export interface WebhookDelivery {
  /** Its own id. */
  id: string;
  webhook: Omit<WebhookSetup, 'events' | 'source'>;
  event: WebhookEvent;
}

/** What a list shows of a delivery, as Temporal's memo holds it. */
export interface WebhookMemo {
  [name: string]: unknown;
  workId: string;
  type: string;
  target: string;
  /** Of one that has ended. */
  attempts?: number;
  detail?: string;
}

/**
 * A delivery's id: of the work, of one of its webhooks and of the durable event, so that nothing is told twice. No piece of
 * work can have such an id, as theirs hold no colon.
 */
export const deliveryId = (workId: string, webhook: number, eventNumber: number): string =>
  `${workId}:webhook:${webhook}:${eventNumber}`;

/**
 * Scheme, host and port: the rest of a URL may hold a token. No URL class here: the domain has no Node built-ins, and what
 * comes here was checked at the start.
 */
export const originOf = (url: string): string => /^[a-z]+:\/\/[^/?#]*/i.exec(url)?.[0] ?? '';
