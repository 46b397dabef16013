import type { SessionPolicy } from '../src/contracts/session.js';
import { agreementOf, answersAgree, type Vote } from '../src/domain/agreement.js';
import { atLeast } from '../src/domain/numbers.js';

/** Least time between two digests of streaming text (design "Streams": a few times a second); it grows with their number. */
const digestMs = 250;

interface View {
  quorum: boolean;
  early: boolean;
  answer: Vote['answer'] | null;
}

/**
 * Decides when streamed text is worth a signal: when the leading answer, the quorum or the early exit would look different to
 * the workflow than when it last heard. Tokens themselves stay out of history.
 */
export class Digest {
  private timer: NodeJS.Timeout | null = null;
  private sent = 0;
  private nextAt = 0;
  private known: View | null = null;

  constructor(
    private readonly policy: SessionPolicy,
    private readonly now: () => number,
    /** Votes as they would be if everything were told; in lane order. */
    private readonly votes: () => Vote[],
    private readonly flush: () => void,
    private readonly isPending: () => boolean,
  ) {}

  /** Whether streamed text can decide anything at all; a judge is shown finals only. */
  private get matters(): boolean {
    const { count_partials, profile, agreement } = this.policy;
    return count_partials && profile === 'full' && agreement.method !== 'judge';
  }

  /** More text has come. */
  consider(): void {
    if (!this.matters || this.timer !== null) return;
    this.timer = setTimeout(() => this.look(), Math.max(digestMs, this.nextAt - this.now()));
  }

  /** The workflow is being told all there is. */
  noteFlushed(): void {
    if (this.matters) this.known = this.view();
  }

  stop(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }

  private look(): void {
    this.timer = null;
    const before = this.now();
    if (this.couldDecide()) {
      this.sent += 1;
      this.flush();
    }
    const cost = this.now() - before;
    // Rarer as they add up, so that a long stream stays a short history; and never more than a twentieth of the time.
    this.nextAt = this.now() + Math.max(digestMs * (1 + this.sent / 8), cost * 20);
    if (this.isPending()) this.consider();
  }

  private view(): View {
    const votes = this.votes();
    const { value, leader } = agreementOf(votes, this.policy.agreement);
    return {
      quorum: votes.length >= this.policy.quorum_min && atLeast(value, this.policy.threshold),
      early: atLeast(value, this.policy.early_exit.threshold),
      answer: votes.find((vote) => vote.laneId === leader?.representative)?.answer ?? null,
    };
  }

  private couldDecide(): boolean {
    const { known } = this;
    const view = this.view();
    if (!known || known.quorum !== view.quorum) return view.quorum || (known?.quorum ?? false);
    if (!view.quorum) return false;
    if (known.early !== view.early) return true;
    if (known.answer === null || view.answer === null) return known.answer !== view.answer;
    return !answersAgree(known.answer, view.answer, this.policy.agreement);
  }
}
