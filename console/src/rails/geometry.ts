import { offsetAt } from '../parts/times.ts';
import type { Kind, Piece, Span } from './pieces.ts';
import { isBreak } from './pieces.ts';

/** A rectangle of a rail, in pixels from its left edge. */
export interface Segment {
  kind: Kind;
  left: number;
  width: number;
}

/** Shorter breaks are drawn this wide, pixels: a break must never vanish. */
const LEAST_BREAK_PX = 3;

/**
 * The rectangles of a rail: what is sound first, breaks over it. Short breaks keep their beginning and become 3 px wide; one that is still
 * going on is pinned to the right edge. Breaks of one kind that touch become one, so that a rail never has more than a third of its pixels.
 * @param width of the rail, pixels
 */
export function segmentsOf(pieces: readonly Piece[], { from, to }: Span, width: number): Segment[] {
  if (width <= 0 || to <= from) return [];
  const at = (moment: number): number => ((moment - from) / (to - from)) * width;
  const sound: Segment[] = [];
  const breaks: Segment[] = [];
  for (const piece of pieces) {
    const left = at(piece.from);
    const right = at(piece.to);
    if (!isBreak(piece)) sound.push({ kind: piece.kind, left, width: right - left });
    else add(breaks, widened(piece.kind, left, right, width));
  }
  return [...sound, ...breaks];
}

function widened(kind: Kind, left: number, right: number, width: number): Segment {
  const least = Math.min(LEAST_BREAK_PX, width);
  if (right - left >= least) return { kind, left, width: right - left };
  return { kind, left: Math.min(left, width - least), width: least };
}

function add(breaks: Segment[], segment: Segment): void {
  const last = breaks.at(-1);
  if (last && last.kind === segment.kind && segment.left <= last.left + last.width) {
    last.width = Math.max(last.left + last.width, segment.left + segment.width) - last.left;
  } else breaks.push({ ...segment });
}

/** Moments for the labels of an axis. */
export interface Tick {
  at: number;
  x: number;
  /** Midnight: the label says the day. */
  isDay: boolean;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Steps that people count in, hours. */
const STEPS = [1, 2, 3, 6, 12, 24, 48, 96, 168, 336];

/** Full hours (or days) of the local time, at least `leastPx` apart. */
export function ticksOf({ from, to }: Span, width: number, leastPx: number): Tick[] {
  const msOfLeast = ((to - from) / width) * leastPx;
  const hours = STEPS.find((step) => step * HOUR_MS >= msOfLeast) ?? STEPS.at(-1)!;
  const ticks: Tick[] = [];
  // By the calendar and not by adding milliseconds: a day has 23 or 25 hours when clocks change.
  const midnight = Math.floor((from + offsetAt(from)) / DAY_MS) * DAY_MS;
  for (let count = 0; ; count += 1) {
    const wall = midnight + count * hours * HOUR_MS;
    const at = instantOf(wall);
    if (at > to) return ticks;
    if (at >= from) ticks.push({ at, x: ((at - from) / (to - from)) * width, isDay: wall % DAY_MS === 0 });
  }
}

/** When the shown clock has this time. @param wall as if it were UTC, milliseconds */
function instantOf(wall: number): number {
  const guess = wall - offsetAt(wall);
  return wall - offsetAt(guess);
}
