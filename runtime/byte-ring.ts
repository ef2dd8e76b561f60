/** The newest bytes of a stream, addressed by their offset from its beginning. */
export class ByteRing {
  readonly #ring: Buffer;
  #begin: number;
  #total: number;

  /** @param from offset of the first byte that will be appended */
  constructor(capacity: number, from = 0) {
    this.#ring = Buffer.allocUnsafe(capacity);
    this.#begin = from;
    this.#total = from;
  }

  /** Offset of the next byte. */
  get total(): number {
    return this.#total;
  }

  /** Offset of the oldest byte that can be read. */
  get oldest(): number {
    return Math.max(this.#begin, this.#total - this.#ring.length);
  }

  append(bytes: Buffer): void {
    const { length: capacity } = this.#ring;
    const kept = bytes.subarray(Math.max(0, bytes.length - capacity));
    const at = (this.#total + bytes.length - kept.length) % capacity;
    const beforeEnd = kept.copy(this.#ring, at);
    kept.copy(this.#ring, 0, beforeEnd);
    this.#total += bytes.length;
  }

  /** A copy of at most `limit` bytes from this offset on, which must not be older than {@link oldest}; empty at the end. */
  read(from: number, limit: number): Buffer {
    const { length: capacity } = this.#ring;
    const at = from % capacity;
    const length = Math.min(limit, this.#total - from, capacity - at);
    return Buffer.from(this.#ring.subarray(at, at + length));
  }
}
