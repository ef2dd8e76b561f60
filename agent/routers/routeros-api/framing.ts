import type { Claim } from '../../core/reply-memory.ts';
import { decodeWireText } from '../../core/wire-text.ts';

/**
 * Words and sentences of the RouterOS API as bytes. Pure: no socket, no tags.
 * A word is a length prefix of one to five bytes and that many bytes; a sentence ends with a word of length zero.
 */

/** Largest sentence. The API documentation allows words of 4 GiB; the largest seen is a file of 5 MB. */
const MAX_SENTENCE_BYTES = 8 * 1024 * 1024;
/** Largest number of words: the widest known print has about 120 properties. */
const MAX_SENTENCE_WORDS = 4096;

/** The peer violates the protocol; later bytes cannot be decoded. */
export class FramingError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FramingError';
  }
}

/** Length prefix for a word of `length` bytes. */
export function encodeLength(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  if (length < 0x4000) return Buffer.of(0x80 | (length >> 8), length & 0xff);
  if (length < 0x20_0000) return Buffer.of(0xc0 | (length >> 16), (length >> 8) & 0xff, length & 0xff);
  const prefix = Buffer.alloc(length < 0x1000_0000 ? 4 : 5);
  prefix.writeUInt32BE(length, prefix.length - 4);
  prefix[0] = length < 0x1000_0000 ? prefix[0]! | 0xe0 : 0xf0;
  return prefix;
}

/** One word in UTF-8 with its prefix. */
export function encodeWord(word: string): Buffer {
  const body = Buffer.from(word, 'utf8');
  return Buffer.concat([encodeLength(body.length), body]);
}

function prefixSize(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc0) return 2;
  if (first < 0xe0) return 3;
  if (first < 0xf0) return 4;
  if (first < 0xf8) return 5;
  throw new FramingError(`reserved control byte 0x${first.toString(16)}`);
}

/** Bits of the first prefix byte that belong to the length, by prefix size. */
const FIRST_BYTE_MASK = [0, 0x7f, 0x3f, 0x1f, 0x0f, 0x00] as const;

function decodeLength(prefix: Buffer, at: number, size: number): number {
  let length = prefix[at]! & FIRST_BYTE_MASK[size]!;
  for (let i = 1; i < size; i++) length = length * 256 + prefix[at + i]!;
  return length;
}

/**
 * Splits a byte stream into sentences, independent of how the bytes are split over `push` calls. The decoder is always in one of two
 * states: collecting a length prefix (`#missing` = 0) or collecting a word (`#missing` > 0).
 */
export class SentenceDecoder {
  #words: string[] = [];
  #sentenceBytes = 0;
  /** Bytes of a prefix that is split between two chunks. */
  #prefix: Buffer = Buffer.alloc(0);
  /** Parts of a word that is split between chunks. */
  #parts: Buffer[] = [];
  #missing = 0;
  readonly #room: Claim | undefined;
  /** Number of sentences without words. They have no meaning, but many of them are abuse. */
  emptySentences = 0;

  /** @param room memory for incomplete sentences */
  constructor(room?: Claim) {
    this.#room = room;
  }

  /** Calls `onSentence` for every sentence that `chunk` completes. @throws FramingError */
  push(chunk: Buffer, onSentence: (words: string[]) => void): void {
    let at = 0;
    while (at < chunk.length) {
      at = this.#missing > 0 ? this.#continueWord(chunk, at) : this.#startWord(chunk, at, onSentence);
    }
  }

  #startWord(chunk: Buffer, at: number, onSentence: (words: string[]) => void): number {
    if (this.#prefix.length > 0) return this.#finishPrefix(chunk, at, onSentence);
    const size = prefixSize(chunk[at]!);
    if (at + size > chunk.length) {
      this.#prefix = Buffer.from(chunk.subarray(at));
      return chunk.length;
    }
    return this.#body(chunk, at + size, decodeLength(chunk, at, size), onSentence);
  }

  #finishPrefix(chunk: Buffer, at: number, onSentence: (words: string[]) => void): number {
    const size = prefixSize(this.#prefix[0]!);
    const wanted = size - this.#prefix.length;
    this.#prefix = Buffer.concat([this.#prefix, chunk.subarray(at, at + wanted)]);
    if (this.#prefix.length < size) return chunk.length;
    const length = decodeLength(this.#prefix, 0, size);
    this.#prefix = Buffer.alloc(0);
    return this.#body(chunk, at + wanted, length, onSentence);
  }

  #body(chunk: Buffer, at: number, length: number, onSentence: (words: string[]) => void): number {
    if (length === 0) {
      this.#endSentence(onSentence);
      return at;
    }
    this.#count(length);
    const end = at + length;
    if (end <= chunk.length) {
      this.#words.push(decodeWireText(chunk.subarray(at, end)));
      return end;
    }
    this.#missing = length;
    return this.#continueWord(chunk, at);
  }

  #continueWord(chunk: Buffer, at: number): number {
    const part = chunk.subarray(at, at + this.#missing);
    this.#missing -= part.length;
    // Copied: a slice would keep the whole chunk alive for as long as the word is incomplete.
    if (part.length > 0) this.#keep(part);
    if (this.#missing === 0) {
      this.#words.push(decodeWireText(Buffer.concat(this.#parts)));
      this.#parts = [];
    }
    return at + part.length;
  }

  #keep(part: Buffer): void {
    if (this.#room?.grow(part.length) === false)
      throw new FramingError('not enough memory for a sentence this long beside those of other routers');
    this.#parts.push(Buffer.from(part));
  }

  #count(length: number): void {
    this.#sentenceBytes += length;
    if (this.#sentenceBytes > MAX_SENTENCE_BYTES) throw new FramingError('sentence of more than 8 MiB');
    if (this.#words.length >= MAX_SENTENCE_WORDS) throw new FramingError(`sentence of more than ${MAX_SENTENCE_WORDS} words`);
  }

  #endSentence(onSentence: (words: string[]) => void): void {
    const words = this.#words;
    this.#words = [];
    this.#sentenceBytes = 0;
    this.#room?.release();
    if (words.length === 0) this.emptySentences += 1;
    // The protocol says to skip empty sentences.
    if (words.length > 0) onSentence(words);
  }
}

/** `=name=value`, split at the second `=` because the value may contain more. Undefined for other words. */
export function parseAttribute(word: string): [name: string, value: string] | undefined {
  if (!word.startsWith('=')) return undefined;
  const second = word.indexOf('=', 1);
  return second < 0 ? [word.slice(1), ''] : [word.slice(1, second), word.slice(second + 1)];
}
