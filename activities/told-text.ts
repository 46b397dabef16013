import type { BusPort } from '../src/contracts/bus.js';

/** The text of one call as it comes, told to those who watch; who begins to watch later hears it from the start. */
export class ToldText {
  private text = '';
  private readonly unsubscribe: () => void;

  constructor(
    private readonly bus: BusPort,
    private readonly workId: string,
    private readonly lane: { lane_id: string; attempt: number },
  ) {
    this.unsubscribe = bus.subscribe(workId, ({ type }) => {
      if (type === 'sync' && this.text !== '') this.tell(0, this.text);
    });
  }

  add(text: string): void {
    const offset = this.text.length;
    this.text += text;
    this.tell(offset, text);
  }

  end(): void {
    this.unsubscribe();
  }

  private tell(offset: number, text: string): void {
    if (this.bus.isWatched(this.workId)) this.bus.publish(this.workId, { type: 'partial', ...this.lane, offset, text });
  }
}
