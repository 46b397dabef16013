const mostPieces = 1_024;

/** The last bytes of a stream, as text. */
export class OutputTail {
  private pieces: Buffer[] = [];
  private held = 0;
  /** Bytes seen, kept or not. */
  seen = 0;

  constructor(private readonly limitBytes: number) {}

  add(piece: Buffer): void {
    this.seen += piece.length;
    this.held += piece.length;
    this.pieces.push(piece);
    if (this.held > 2 * this.limitBytes || this.pieces.length > mostPieces) this.cut();
  }

  get truncated(): boolean {
    return this.seen > this.limitBytes;
  }

  /** Begins with a whole character where the cut fell into one (UTF-8). */
  text(): string {
    const bytes = this.cut();
    let from = 0;
    if (this.truncated) while (from < 3 && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
    return bytes.subarray(from).toString('utf8');
  }

  private cut(): Buffer {
    const bytes = Buffer.concat(this.pieces);
    const tail = Buffer.from(bytes.subarray(Math.max(0, bytes.length - this.limitBytes)));
    this.pieces = [tail];
    this.held = tail.length;
    return tail;
  }
}
