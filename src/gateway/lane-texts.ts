import type { PartialEvent } from '../contracts/events.js';

interface LaneText {
  attempt: number;
  text: string;
}

/** How far a reader has got in each lane's text. */
export type TextCursor = Map<string, { attempt: number; offset: number }>;

/**
 * The text so far of every lane that streams, merged from pieces that may come twice, late or with a hole before them
 * (spec 09 "by lane, attempt and character offset"). Readers ask for what follows their own cursor, so that a reader who
 * comes back, or who was slow, gets what it lacks in one piece and nothing twice.
 */
export class LaneTexts {
  readonly #lanes = new Map<string, LaneText>();
  readonly #ended = new Set<string>();

  /**
   * @returns `hole` when text before the piece is missing: the piece is not taken, and the whole text has to be asked for;
   * `nothing` when it brings nothing new.
   */
  merge({ lane_id: laneId, attempt, offset, text }: PartialEvent): 'grown' | 'nothing' | 'hole' {
    if (this.#ended.has(laneId)) return 'nothing';
    const known = this.#lanes.get(laneId);
    if (known && attempt < known.attempt) return 'nothing';
    if (!known || attempt > known.attempt) {
      if (offset > 0) return 'hole';
      this.#lanes.set(laneId, { attempt, text });
      return 'grown';
    }
    if (offset > known.text.length) return 'hole';
    const fresh = text.slice(known.text.length - offset);
    if (fresh === '') return 'nothing';
    known.text += fresh;
    return 'grown';
  }

  /** The lane has ended: its answer stands in its `lane` event, and its text is of no more use. */
  end(laneId: string): void {
    this.#ended.add(laneId);
    this.#lanes.delete(laneId);
  }

  clear(): void {
    this.#lanes.clear();
  }

  /** What follows `cursor`, one piece a lane; moves the cursor past it. */
  after(cursor: TextCursor): PartialEvent[] {
    const pieces: PartialEvent[] = [];
    for (const [laneId, { attempt, text }] of this.#lanes) {
      const at = cursor.get(laneId);
      const offset = at?.attempt === attempt ? at.offset : 0;
      // A restarted lane is told even before it has said anything: what its last attempt said is void.
      const isRestart = at !== undefined && at.attempt !== attempt;
      if (offset >= text.length && !isRestart) continue;
      cursor.set(laneId, { attempt, offset: text.length });
      pieces.push({ lane_id: laneId, attempt, offset, text: text.slice(offset) });
    }
    return pieces;
  }
}
