import { performance } from 'node:perf_hooks';

/**
 * Unsolicited bytes that a router may send. After the agent cancels a command, the router's data is still in transit: no more than
 * the buffers of both ends hold.
 */
const MOST_BYTES = 4 * 1024 * 1024;
/** Bytes subtracted each second, so that occasional cancelled commands never add up. */
const FORGOTTEN_BYTES_PER_SECOND = 16 * 1024;

/** Counts the unsolicited bytes of one connection. */
export class UnsolicitedBytes {
  #bytes = 0;
  #countedAt = performance.now();

  /** @returns why the connection must be closed; undefined while it may stay open */
  count(bytes: number): string | undefined {
    const now = performance.now();
    this.#bytes = Math.max(0, this.#bytes - ((now - this.#countedAt) / 1000) * FORGOTTEN_BYTES_PER_SECOND) + bytes;
    this.#countedAt = now;
    return this.#bytes > MOST_BYTES ? 'the router keeps sending unsolicited data' : undefined;
  }
}
