import { performance } from 'node:perf_hooks';

/**
 * So many bytes a router may send that nobody waits for. A command that was given up is told to the router, and what it has
 * sent until it heard so is still on its way: no more than the buffers of both ends hold.
 */
const MOST_BYTES = 4 * 1024 * 1024;
/** Forgotten of it each second, so that what was given up now and then never adds up. */
const FORGOTTEN_BYTES_PER_SECOND = 16 * 1024;

/** Counts what a router sends without being asked, of one connection. */
export class UnsolicitedBytes {
  #bytes = 0;
  #countedAt = performance.now();

  /** @returns why the connection has to be ended; undefined while it may go on */
  count(bytes: number): string | undefined {
    const now = performance.now();
    this.#bytes = Math.max(0, this.#bytes - ((now - this.#countedAt) / 1000) * FORGOTTEN_BYTES_PER_SECOND) + bytes;
    this.#countedAt = now;
    return this.#bytes > MOST_BYTES ? 'the router sends without end what nobody asked for' : undefined;
  }
}
