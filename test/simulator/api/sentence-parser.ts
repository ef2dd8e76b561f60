import { decodeLength, prefixBytes } from './words.ts';

export type ProtocolFault = 'control-byte' | 'word-too-long' | 'sentence-too-long';

export class ProtocolError extends Error {
  readonly fault: ProtocolFault;

  constructor(fault: ProtocolFault) {
    super(fault);
    this.name = 'ProtocolError';
    this.fault = fault;
  }
}

export interface SentenceLimits {
  wordBytes: number;
  sentenceBytes: number;
  words: number;
}

/** Scripts are at most 64 kB and file contents 60 kB; the rest is room for tests of long words. */
export const DEFAULT_LIMITS: SentenceLimits = { wordBytes: 16 * 1024 * 1024, sentenceBytes: 32 * 1024 * 1024, words: 10_000 };

/**
 * Turns bytes, in whatever pieces they come, into sentences. Empty sentences are swallowed.
 * Invariant: after a ProtocolError the stream cannot be continued; the owner closes the connection.
 */
export class SentenceParser {
  readonly #limits: SentenceLimits;
  #prefix: number[] = [];
  /** Bytes of the present word still to come; undefined while the length prefix is being read. */
  #missing: number | undefined;
  #parts: Buffer[] = [];
  #words: string[] = [];
  #bytes = 0;

  constructor(limits: SentenceLimits = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  /** Takes the next bytes and hands every completed sentence to `emit`, in order. */
  push(chunk: Buffer, emit: (words: string[]) => void): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#missing === undefined) at = this.#readPrefix(chunk, at, emit);
      else at = this.#readWord(chunk, at, this.#missing);
    }
  }

  #readPrefix(chunk: Buffer, at: number, emit: (words: string[]) => void): number {
    this.#prefix.push(chunk[at] ?? 0);
    const wanted = prefixBytes(this.#prefix[0] ?? 0);
    if (wanted === 0) throw new ProtocolError('control-byte');
    if (this.#prefix.length < wanted) return at + 1;
    const length = decodeLength(Buffer.from(this.#prefix));
    this.#prefix = [];
    if (length === 0) this.#endSentence(emit);
    else this.#startWord(length);
    return at + 1;
  }

  #startWord(length: number): void {
    if (length > this.#limits.wordBytes) throw new ProtocolError('word-too-long');
    this.#bytes += length;
    const tooMuch = this.#bytes > this.#limits.sentenceBytes || this.#words.length >= this.#limits.words;
    if (tooMuch) throw new ProtocolError('sentence-too-long');
    this.#missing = length;
  }

  #readWord(chunk: Buffer, at: number, missing: number): number {
    const piece = chunk.subarray(at, at + missing);
    this.#parts.push(piece);
    this.#missing = missing - piece.length;
    if (this.#missing === 0) {
      this.#words.push(Buffer.concat(this.#parts).toString('utf8'));
      this.#parts = [];
      this.#missing = undefined;
    }
    return at + piece.length;
  }

  #endSentence(emit: (words: string[]) => void): void {
    const words = this.#words;
    this.#words = [];
    this.#bytes = 0;
    if (words.length > 0) emit(words);
  }
}
