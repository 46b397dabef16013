import type { Usage } from '../../src/contracts/frames.js';
import { approximateTokens } from '../../src/domain/budget.js';
import type { Amount } from '../../src/domain/session/setup.js';
import type { AgentFrame } from '../ports.js';

/** What one call has used so far: as its agent states it, else by the texts that were sent and heard. */
export class Use {
  private stated: Usage | null = null;
  private characters = 0;

  constructor(
    private readonly sent: string,
    /** What was held for it, which tells what a token costs. */
    private readonly held: Amount,
  ) {}

  state(usage: Usage): void {
    this.stated = usage;
  }

  hear(frame: AgentFrame): void {
    if (frame.type === 'partial') this.characters += frame.text.length;
    if (frame.type !== 'final') return;
    if (frame.usage) this.stated ??= frame.usage;
    // A final that says something stands for the partials before it.
    const said = frame.text ?? (frame.json === undefined ? null : JSON.stringify(frame.json));
    if (said !== null) this.characters = said.length;
  }

  amount(): Amount {
    if (this.stated) return { tokens: this.stated.tokens, usdMicros: Math.round((this.stated.usd ?? 0) * 1e6) };
    const tokens = approximateTokens(this.sent) + Math.ceil(this.characters / 4);
    const { tokens: most, usdMicros } = this.held;
    return { tokens, usdMicros: most === 0 ? 0 : Math.ceil((usdMicros * tokens) / most) };
  }
}
