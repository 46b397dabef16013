import { closeSync, openSync, readSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

const bufferBytes = 4 * 1024 * 1024;

/** The bytes of a snapshot's files, one after another in one file: making a file of each took ten times as long. */
export class PackWriter {
  private readonly buffer = Buffer.allocUnsafe(bufferBytes);
  private used = 0;
  private written = 0;

  private constructor(private readonly file: FileHandle) {}

  static async create(path: string): Promise<PackWriter> {
    return new PackWriter(await open(path, 'wx', 0o600));
  }

  /** Where the next bytes will begin. */
  get end(): number {
    return this.written + this.used;
  }

  async append(bytes: Buffer): Promise<void> {
    for (let from = 0; from < bytes.length; ) {
      const copied = bytes.copy(this.buffer, this.used, from);
      from += copied;
      this.used += copied;
      if (this.used === bufferBytes) await this.flush();
    }
  }

  /** What was appended survives a power cut from here on. */
  async finish(): Promise<void> {
    await this.flush();
    await this.file.sync();
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  private async flush(): Promise<void> {
    for (let from = 0; from < this.used; ) {
      const { bytesWritten } = await this.file.write(this.buffer, from, this.used - from, this.written);
      from += bytesWritten;
      this.written += bytesWritten;
    }
    this.used = 0;
  }
}

export class PackReader {
  private readonly descriptor: number;

  constructor(path: string) {
    this.descriptor = openSync(path, 'r');
  }

  /** @returns how many bytes it put into the buffer; 0 at the end of the pack */
  read(buffer: Buffer, offset: number, length: number): number {
    return readSync(this.descriptor, buffer, 0, Math.min(length, buffer.length), offset);
  }

  close(): void {
    closeSync(this.descriptor);
  }
}
