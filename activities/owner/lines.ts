import { randomBytes } from 'node:crypto';

/** What a line is begun with, beside what it is to. */
interface LineOfWorker {
  worker: string;
  now: () => number;
}

/** One worker's lines to owners, each begun when it is first needed. */
export class Lines<Line extends { close(): Promise<void> }> {
  private readonly lines = new Map<string, Line>();
  private readonly of: LineOfWorker;

  /** @param name names the worker to people */
  constructor(
    name: string,
    private readonly begin: (to: string, of: LineOfWorker) => Line,
  ) {
    this.of = { worker: `${name}/${randomBytes(4).toString('hex')}`, now: () => performance.now() };
  }

  to(owner: string): Line {
    const line = this.lines.get(owner) ?? this.begin(owner, this.of);
    this.lines.set(owner, line);
    return line;
  }

  close = async (): Promise<void> => {
    await Promise.all([...this.lines.values()].map((line) => line.close()));
  };
}
