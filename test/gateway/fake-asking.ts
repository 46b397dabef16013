import type { Approval, GivenFeedback } from '../../src/contracts/feedback.js';
import { openApproval, type OpenApproval, stepApproval } from '../../src/domain/approval.js';
import { ParleyError } from '../../src/domain/errors.js';
import { answerReceipt, type FeedbackReceipt } from '../../src/domain/feedback-answer.js';
import { refusalError } from '../../src/domain/feedback.js';
import { askedNote, type Asks } from '../../src/domain/inbox/asks.js';
import type { AskingKind } from '../../src/gateway/asking-kinds.js';
import type { WorkItem, WorkList } from '../../src/contracts/work.js';
import type { FeedbackPort, WaitingWork, WorkFilter, WorkIndex } from '../../src/gateway/work-port.js';
import { oneOfAnybody } from '../support/approval-terms.js';

const at = '2026-11-20T10:00:00.000Z';
export const subject = { work_id: 'd1', tasks: [{ task_id: 't1', argv: ['true'] }] };

export const requestIdOf = (number: number): string => `fr-20261120-${number.toString(16).padStart(6, '0')}`;

type WaitingFilter = Pick<WorkFilter, 'kind' | 'tenant' | 'cursor'>;
/** Of one page of what waits. */
const atOnce = 200;

interface Held {
  tenant: string;
  approvals: Approval[];
  isOver: boolean;
}

/** Debates that only ask: their approvals are the real ones, and no debate goes on around them. */
export class FakeAsking implements AskingKind, FeedbackPort, Pick<WorkIndex, 'waiting' | 'list'> {
  readonly kind = 'debate';
  readonly port = this;
  readonly held = new Map<string, Held>();
  readonly listed: WaitingFilter[] = [];
  /** Ids that were asked, in order. */
  readonly asked: string[] = [];
  /** What people call a piece of work, by its id. */
  readonly names = new Map<string, string>();
  /** What the work has noted of what it asks, by its id; what is not here has to be asked. */
  readonly notes = new Map<string, WaitingWork['asked']>();
  /** Thrown by the next looks at a piece of work, while set. */
  failing = new Map<string, Error>();
  #requests = 0;
  #clock = Date.parse(at);

  /** One more moment, later than all before. */
  tick(): number {
    return (this.#clock += 1_000);
  }

  ask(id: string, { tenant = 'default', ...over }: Partial<OpenApproval> & { tenant?: string } = {}): Approval {
    const approval = openApproval(
      {
        requestId: requestIdOf((this.#requests += 1)),
        prompt: `Run it? ${id}`,
        subject,
        policyVersion: 'test-1',
        ...oneOfAnybody,
        ...over,
      },
      this.tick(),
    );
    const held = this.held.get(id) ?? { tenant, approvals: [], isOver: false };
    this.held.set(id, { ...held, approvals: [...held.approvals, approval] });
    return approval;
  }

  end(id: string): void {
    this.#get(id).isOver = true;
  }

  open(id: string): Approval {
    return this.#get(id).approvals.at(-1)!;
  }

  #get(id: string): Held {
    const held = this.held.get(id);
    if (!held) throw new ParleyError('not_found', `There is no debate ${id}.`);
    return held;
  }

  /** Has the work note what it asks now. */
  note(id: string): void {
    this.notes.set(id, askedNote(this.#asksOf(id)));
  }

  async asks(id: string): Promise<Asks> {
    this.asked.push(id);
    const error = this.failing.get(id);
    if (error) throw error;
    return this.#asksOf(id);
  }

  #asksOf(id: string): Asks {
    const { tenant, approvals, isOver } = this.#get(id);
    const links = { self: `/v1/debates/${id}`, events: `/v1/debates/${id}/events`, web_ui: 'http://ui' };
    return {
      workId: id,
      kind: 'debate',
      tenant,
      name: this.names.get(id) ?? null,
      state: isOver ? 'DONE' : 'AWAITING_APPROVAL',
      isOver,
      about: `Do ${id}`,
      links,
      requests: approvals,
      subject,
    };
  }

  async feedback(id: string, given: GivenFeedback): Promise<FeedbackReceipt> {
    const held = this.#get(id);
    if (held.isOver) throw new ParleyError('wrong_state', `debate in DONE cannot take feedback: it has ended.`);
    const step = stepApproval(held.approvals.at(-1)!, { type: 'answer', given }, this.tick());
    if (step.refused) throw refusalError(step.refused);
    held.approvals = [...held.approvals.slice(0, -1), step.approval];
    if (given.response.toLowerCase() === 'request_changes') this.ask(id);
    else if (step.outcome !== 'pending') held.isOver = true;
    return answerReceipt(held.approvals, given);
  }

  async waiting(filter: WaitingFilter): Promise<{ items: WaitingWork[]; next_cursor: string | null }> {
    this.listed.push(filter);
    const waiting = [...this.held].filter(
      ([, { tenant, isOver }]) =>
        !isOver && (filter.tenant ?? tenant) === tenant && (filter.kind ?? 'debate') === 'debate',
    );
    const from = Number(filter.cursor ?? 0);
    const page = waiting.slice(from, from + atOnce);
    const items = page.map(([id, { tenant }]) => ({
      work: this.#itemOf(id, tenant),
      asked: this.notes.get(id) ?? null,
    }));
    const next = from + atOnce;
    return { items, next_cursor: next < waiting.length ? String(next) : null };
  }

  #itemOf(id: string, tenant: string): WorkItem {
    return {
      id,
      kind: 'debate',
      tenant,
      lifecycle: 'waiting',
      state: 'AWAITING_APPROVAL',
      waiting_for: 'person',
      summary: `debate: Do ${id}`,
      started_at: at,
      ended_at: null,
      links: { self: '', events: '', web_ui: '' },
    };
  }

  /** Work of a name, the newest first. */
  async list({ name, tenant, limit }: WorkFilter): Promise<WorkList> {
    const called = [...this.held].filter(
      ([id, held]) => this.names.get(id) === name && (tenant ?? held.tenant) === held.tenant,
    );
    const items = called.map(([id, held]) => this.#itemOf(id, held.tenant)).toReversed();
    return { items: items.slice(0, limit), next_cursor: null };
  }
}
