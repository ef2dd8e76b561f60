import { AppError } from '../core/errors.ts';

/**
 * A value on the bus is one frame, or several when it is larger than one message may be. A frame is 11 bytes and then a part of the
 * value's JSON:
 *
 *   byte 0      version of this format
 *   byte 1      kind
 *   byte 2      1 for the last frame of a value
 *   bytes 3-6   number of the frame in its direction of one ask, from 0: a gap means that a frame was lost
 *   bytes 7-10  of an ask: milliseconds that are left
 */
export const FRAME_HEADER_BYTES = 11;
const VERSION = 1;

const KINDS = ['ask', 'cancel', 'item', 'end', 'error', 'hint'] as const;
export type FrameKind = (typeof KINDS)[number];

export interface Frame {
  kind: FrameKind;
  isLast: boolean;
  number: number;
  remainingMs: number;
  part: Buffer;
}

/**
 * The largest value, all its frames together. The largest question has the largest message of a tunnel in it, the largest answer is a part of
 * a file or a batch of rows; neither comes near.
 */
export const MAX_VALUE_BYTES = 4 * 1024 * 1024;

/** The highest number of a frame, and of milliseconds. */
const MAX_UINT32 = 0xffff_ffff;

export interface FrameOptions {
  kind: FrameKind;
  /** Of the first frame. */
  number: number;
  /** Of one message on the bus, with the header. */
  mostBytes: number;
  remainingMs?: number;
}

/** @throws AppError `too_large` */
export function framesOf(value: unknown, { kind, number, mostBytes, remainingMs = 0 }: FrameOptions): Buffer[] {
  const text = Buffer.from(JSON.stringify(value ?? null));
  if (text.length > MAX_VALUE_BYTES)
    throw new AppError('too_large', `larger than ${MAX_VALUE_BYTES} bytes, the most between control planes`);
  const room = mostBytes - FRAME_HEADER_BYTES;
  const frames: Buffer[] = [];
  for (let from = 0; from === 0 || from < text.length; from += room) {
    const isLast = from + room >= text.length;
    frames.push(frameOf(text.subarray(from, from + room), { kind, isLast, number: number + frames.length, remainingMs }));
  }
  return frames;
}

function frameOf(part: Buffer, { kind, isLast, number, remainingMs }: Omit<Frame, 'part'>): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUInt8(VERSION, 0);
  header.writeUInt8(KINDS.indexOf(kind), 1);
  header.writeUInt8(isLast ? 1 : 0, 2);
  header.writeUInt32BE(number, 3);
  header.writeUInt32BE(Math.min(MAX_UINT32, Math.max(0, Math.floor(remainingMs))), 7);
  return Buffer.concat([header, part]);
}

/** A hint is one frame: undefined for a value that is larger. */
export function hintFrame(value: unknown, mostBytes: number): Buffer | undefined {
  const text = Buffer.from(JSON.stringify(value ?? null));
  if (text.length > mostBytes - FRAME_HEADER_BYTES) return undefined;
  return frameOf(text, { kind: 'hint', isLast: true, number: 0, remainingMs: 0 });
}

/** Undefined for bytes that are no frame, or one of another version. */
export function readFrame(bytes: Uint8Array): Frame | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length < FRAME_HEADER_BYTES || buffer.readUInt8(0) !== VERSION) return undefined;
  const kind = KINDS[buffer.readUInt8(1)];
  if (kind === undefined) return undefined;
  return {
    kind,
    isLast: buffer.readUInt8(2) === 1,
    number: buffer.readUInt32BE(3),
    remainingMs: buffer.readUInt32BE(7),
    part: buffer.subarray(FRAME_HEADER_BYTES),
  };
}

/** A value that is complete. */
export interface Assembled {
  value: unknown;
  bytes: number;
}

/** Puts the frames of one direction of an ask together. */
export class Assembly {
  #next = 0;
  #parts: Buffer[] = [];
  #bytes = 0;

  /** @returns `lost` after a gap, for a value that is too large, and for one that is not JSON; undefined while more of the value follows */
  add({ number, isLast, part }: Frame): Assembled | 'lost' | undefined {
    if (number !== this.#next) return 'lost';
    this.#next += 1;
    this.#bytes += part.length;
    if (this.#bytes > MAX_VALUE_BYTES) return 'lost';
    this.#parts.push(part);
    if (!isLast) return undefined;
    const text = Buffer.concat(this.#parts).toString();
    const bytes = this.#bytes;
    this.#parts = [];
    this.#bytes = 0;
    const value = parse(text);
    return value === undefined ? 'lost' : { value, bytes };
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
