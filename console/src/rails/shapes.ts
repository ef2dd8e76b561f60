import type { Segment } from './geometry.ts';

/** Sizes that differ between small and large rails, pixels. */
export interface Size {
  height: number;
  /** Breaks of an agent or a router are this part of the height. */
  low: number;
  /** Of the hatching (`hatching.tsx`). */
  hatch: 'small' | 'story';
}

/** Tables and phones. */
export const SMALL: Size = { height: 7, low: 0.6, hatch: 'small' };
export const BOARD: Size = { height: 8, low: 0.6, hatch: 'small' };
export const STORY: Size = { height: 36, low: 0.42, hatch: 'story' };

/** What a shape looks like: a class of story-rails.css. `cleared`: the bed shows below a break. */
export type Look = 'bed' | 'heard' | 'never' | 'cleared' | 'hatched' | 'not' | 'away';

/** From below to above. */
const ORDER: readonly Look[] = ['bed', 'heard', 'never', 'cleared', 'hatched', 'not', 'away'];
/** Of the dotted foot, pixels. */
const DOT = { width: 2, step: 6 };

/** One path for everything that looks the same. */
export interface Shape {
  look: Look;
  d: string;
}

/** A rail and the height at which it begins, pixels. */
export interface Laid {
  segments: readonly Segment[];
  top: number;
}

/**
 * The shapes of one rail or two. However many breaks there are, a picture has at most seven elements: a list that scrolls makes and drops
 * dozens of them a second, and a canvas in each row would be a layer of its own to be put together in every frame.
 */
export function shapesOf(rails: readonly Laid[], width: number, size: Size): Shape[] {
  const paths = new Map<Look, string>();
  const rectangle = (look: Look, left: number, top: number, wide: number, high: number): void => {
    const d = `M${round(left)} ${top}h${round(wide)}v${high}h${round(-wide)}z`;
    paths.set(look, (paths.get(look) ?? '') + d);
  };
  for (const { segments, top } of rails) {
    rectangle('bed', 0, top, width, size.height);
    for (const segment of segments) lay(segment, top, size, rectangle);
  }
  return ORDER.flatMap((look) => (paths.has(look) ? [{ look, d: paths.get(look)! }] : []));
}

type Rectangle = (look: Look, left: number, top: number, wide: number, high: number) => void;

function lay({ kind, left, width }: Segment, top: number, { height, low }: Size, rectangle: Rectangle): void {
  switch (kind) {
    case 'heard':
      rectangle('heard', left, top, width, height);
      return;
    case 'not':
    case 'away': {
      const lowHeight = Math.round(height * low);
      rectangle('cleared', left, top, width, height);
      rectangle(kind, left, top + height - lowHeight, width, lowHeight);
      return;
    }
    case 'unasked':
    case 'unknown':
      rectangle('hatched', left, top, width, height);
      return;
    case 'never':
      for (let x = left; x < left + width; x += DOT.step)
        rectangle('never', x, top + height - DOT.width, Math.min(DOT.width, left + width - x), DOT.width);
      return;
  }
}

/** A tenth of a pixel is finer than anybody sees, and short. */
function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}
