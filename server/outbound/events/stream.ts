import { Readable } from 'node:stream';

/** What waits for a reader that does not read, beyond the kernel's buffers: thousands of events. */
export const MAX_WAITING_BYTES = 256 * 1024;
/** How long browsers wait before they come back, milliseconds. */
const RETRY_MS = 3000;

/** The text of one reader's stream. A reader who does not keep up is cut off, and may resume by the last id it saw. */
export class EventStream extends Readable {
  constructor() {
    super({ highWaterMark: MAX_WAITING_BYTES });
    this.push(`retry: ${RETRY_MS}\n\n`);
  }

  // Events are pushed as they come; nothing is fetched on demand.
  override _read(): void {
    return undefined;
  }

  write(text: string): void {
    if (this.destroyed || this.readableEnded) return;
    this.push(text);
    if (this.readableLength > MAX_WAITING_BYTES) this.destroy();
  }

  /** Ends the stream properly: the reader gets what was written. */
  finish(): void {
    if (!this.destroyed) this.push(null);
  }
}
