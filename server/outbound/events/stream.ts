import { Readable } from 'node:stream';

/** Buffer for a slow reader, beyond the kernel's buffers: thousands of events. */
export const MAX_WAITING_BYTES = 256 * 1024;
/** Reconnection delay for browsers, milliseconds. */
const RETRY_MS = 3000;

/** The event stream of one reader. A reader that does not keep up is disconnected, and can resume from the last id it saw. */
export class EventStream extends Readable {
  constructor() {
    super({ highWaterMark: MAX_WAITING_BYTES });
    this.push(`retry: ${RETRY_MS}\n\n`);
  }

  // Events are pushed as they occur; nothing is fetched on demand.
  override _read(): void {
    return undefined;
  }

  write(text: string): void {
    if (this.destroyed || this.readableEnded) return;
    this.push(text);
    if (this.readableLength > MAX_WAITING_BYTES) this.destroy();
  }

  /** Ends the stream cleanly: the reader gets everything written so far. */
  finish(): void {
    if (!this.destroyed) this.push(null);
  }
}
