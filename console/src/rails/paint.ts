import { onThemeChange } from '../look/theme.ts';
import type { Segment } from './geometry.ts';

/** Sizes that differ between small and large rails, pixels. */
export interface Size {
  height: number;
  /** Breaks of an agent or a router are this part of the height. */
  low: number;
  hatch: { line: number; step: number };
}

/** Tables and phones. */
export const SMALL: Size = { height: 7, low: 0.6, hatch: { line: 1, step: 3 } };
export const BOARD: Size = { height: 8, low: 0.6, hatch: { line: 1, step: 3 } };
export const STORY: Size = { height: 36, low: 0.42, hatch: { line: 1.5, step: 5 } };

interface Colours {
  up: string;
  not: string;
  away: string;
  hatch: string;
  hatchBed: string;
  bed: string;
}

let kept: Colours | undefined;
onThemeChange(() => (kept = undefined));

function colours(): Colours {
  if (kept) return kept;
  const style = getComputedStyle(document.documentElement);
  const read = (name: string): string => style.getPropertyValue(`--sb-bar-${name}`).trim();
  kept = { up: read('up'), not: read('not'), away: read('away'), hatch: read('hatch'), hatchBed: read('hatch-bg'), bed: read('bed') };
  return kept;
}

/** Draws one rail at a height of the canvas, pixels of the page. */
export function paintRail(context: CanvasRenderingContext2D, segments: readonly Segment[], top: number, width: number, size: Size): void {
  const colour = colours();
  context.fillStyle = colour.bed;
  context.fillRect(0, top, width, size.height);
  for (const segment of segments) paintSegment(context, segment, top, size, colour);
}

function paintSegment(context: CanvasRenderingContext2D, { kind, left, width }: Segment, top: number, size: Size, colour: Colours): void {
  const { height } = size;
  switch (kind) {
    case 'heard':
      context.fillStyle = colour.up;
      context.fillRect(left, top, width, height);
      return;
    case 'not':
    case 'away': {
      const low = Math.round(height * size.low);
      context.fillStyle = colour.bed;
      context.fillRect(left, top, width, height);
      context.fillStyle = kind === 'not' ? colour.not : colour.away;
      context.fillRect(left, top + height - low, width, low);
      return;
    }
    case 'unasked':
    case 'unknown':
      paintHatch(context, left, top, width, size, colour);
      return;
    case 'never':
      context.fillStyle = colour.hatch;
      for (let x = left; x < left + width; x += 6) context.fillRect(x, top + height - 2, Math.min(2, left + width - x), 2);
      return;
  }
}

/** Lines that rise to the right, at the same places on every rail. */
function paintHatch(context: CanvasRenderingContext2D, left: number, top: number, width: number, size: Size, colour: Colours): void {
  const { line, step } = size.hatch;
  const across = step * Math.SQRT2;
  context.save();
  context.beginPath();
  context.rect(left, top, width, size.height);
  context.clip();
  context.fillStyle = colour.hatchBed;
  context.fillRect(left, top, width, size.height);
  context.strokeStyle = colour.hatch;
  context.lineWidth = line;
  context.beginPath();
  for (let x = Math.floor(left / across) * across - size.height; x < left + width; x += across) {
    context.moveTo(x, top + size.height);
    context.lineTo(x + size.height, top);
  }
  context.stroke();
  context.restore();
}
