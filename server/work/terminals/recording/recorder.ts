import type { Clock, Timer } from '../../../platform/core/clock.ts';
import type { WindowSize } from '../types.ts';
import { gapText, headerLine, outputLine, resizeLine, unfinishedBytes } from './cast.ts';

export interface RecorderOptions {
  clock: Clock;
  /** When the terminal was opened, milliseconds since 1970. */
  startedAt: number;
  title: string;
  size: WindowSize;
  /** What is stored already, after a restart. */
  stored: { chunks: number; chars: number; outputBytes: number; inputBytes: number };
  flushMs: number;
  /** Stores a part. */
  store: (part: RecordedPart) => Promise<void>;
  onFailure: (error: unknown) => void;
  /** Some of what waited is stored. */
  onStored: () => void;
}

export interface RecordedPart {
  number: number;
  text: string;
  /** Length of the recording with this part, characters. */
  chars: number;
  /** Bytes of output that it then holds. */
  outputBytes: number;
  inputBytes: number;
}

/** With this much waiting, it is stored at once. */
const SOON_CHARS = 256 * 1024;
/** Pause after a part that could not be stored. */
const RETRY_MS = 1000;

/** Records one terminal as asciicast v2, in parts. What is typed is not recorded, because it may be a password. */
export class Recorder {
  inputBytes: number;
  readonly #options: RecorderOptions;
  /** `now` of the beginning by the monotonic clock, so that a clock that is set moves no event. */
  readonly #begin: number;
  #lines: string[] = [];
  #unstored = 0;
  #chunks: number;
  #chars: number;
  /** Output up to this offset is recorded or waits to be. */
  #outputBytes: number;
  #tail: Buffer = Buffer.alloc(0);
  #timer: Timer | undefined;
  #flushing: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: RecorderOptions) {
    const { clock, startedAt, size, title, stored } = options;
    this.#options = options;
    this.#begin = clock.monotonic() - Math.max(0, clock.now() - startedAt);
    this.#chunks = stored.chunks;
    this.#chars = stored.chars;
    this.#outputBytes = stored.outputBytes;
    this.inputBytes = stored.inputBytes;
    if (stored.chunks === 0) this.#add(headerLine({ ...size, startedAt, title }));
  }

  /** Characters that are not stored yet. */
  get unstored(): number {
    return this.#unstored;
  }

  /** Length of the recording, characters. */
  get chars(): number {
    return this.#chars;
  }

  /** Output before this offset is recorded, or waits to be. */
  get recorded(): number {
    return this.#outputBytes + this.#tail.length;
  }

  /** Records what is new of some output. @param at offset of its first byte; a gap before it is named in the recording */
  output(at: number, bytes: Buffer): void {
    const known = this.recorded;
    if (at > known) this.#gap(at - known);
    const fresh = bytes.subarray(Math.max(0, known - at));
    const all = Buffer.concat([this.#tail, fresh]);
    const whole = all.subarray(0, all.length - unfinishedBytes(all));
    this.#tail = Buffer.from(all.subarray(whole.length));
    this.#outputBytes += whole.length;
    if (whole.length > 0) this.#add(outputLine(this.#now(), whole.toString('utf8')));
  }

  resize({ cols, rows }: WindowSize): void {
    this.#add(resizeLine(this.#now(), cols, rows));
  }

  /** Stores the rest; settles when it is stored, or could not be. */
  async close(): Promise<void> {
    if (!this.#isClosed && this.#tail.length > 0) {
      this.#add(outputLine(this.#now(), this.#tail.toString('utf8')));
      this.#outputBytes += this.#tail.length;
    }
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#flushing;
    if (this.#lines.length > 0) await this.#flush();
  }

  /** Another control plane records it: what waits is not stored. */
  discard(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#lines = [];
  }

  #gap(bytes: number): void {
    this.#outputBytes += this.#tail.length + bytes;
    this.#tail = Buffer.alloc(0);
    this.#add(outputLine(this.#now(), gapText(bytes)));
  }

  #add(line: string): void {
    this.#lines.push(line);
    this.#unstored += line.length;
    this.#chars += line.length;
    if (this.#unstored >= SOON_CHARS) void this.#flush();
    else this.#timer ??= this.#options.clock.setTimeout(() => void this.#flush(), this.#options.flushMs);
  }

  #now(): number {
    return this.#options.clock.monotonic() - this.#begin;
  }

  /** One at a time; never rejects. */
  #flush(): Promise<void> {
    this.#flushing ??= this.#flushOnce().finally(() => {
      this.#flushing = undefined;
      if (this.#lines.length > 0 && !this.#isClosed) this.#timer ??= this.#options.clock.setTimeout(() => void this.#flush(), RETRY_MS);
    });
    return this.#flushing;
  }

  async #flushOnce(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    const lines = this.#lines;
    const text = lines.join('');
    this.#lines = [];
    const part = { number: this.#chunks, text, chars: this.#chars, outputBytes: this.#outputBytes, inputBytes: this.inputBytes };
    try {
      await this.#options.store(part);
      this.#chunks += 1;
      this.#unstored -= text.length;
      this.#options.onStored();
    } catch (error) {
      this.#lines = [text, ...this.#lines];
      this.#options.onFailure(error);
    }
  }
}
