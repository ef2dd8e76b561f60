import { useEffect, useRef, useState } from 'react';
import { onThemeChange } from '../look/theme.ts';
import { segmentsOf } from './geometry.ts';
import { paintRail } from './paint.ts';
import type { Size } from './paint.ts';
import type { Rails } from './pieces.ts';

/** Between the rail of the agent and that of the router, pixels. */
const GAP = { small: 2, story: 4 };

interface Props {
  rails: Rails | undefined;
  size: Size;
  /** Which rails to draw; both, one above the other, unless told. */
  only?: 'agent' | 'router';
  /** Where the page knows it: a row needs no observer of its own then. Pixels. */
  width?: number;
}

/** One canvas with the agent's rail above and the router's below. It says nothing to readers: a text must stand beside it. */
export function RailCanvas({ rails, size, only, width: known }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const seen = useWidth(canvas, known === undefined);
  const width = known ?? seen;
  const sides = only ? [only] : (['agent', 'router'] as const);
  const gap = size.height > 20 ? GAP.story : GAP.small;
  const height = sides.length * size.height + (sides.length - 1) * gap;
  useEffect(() => {
    const paint = (): void => {
      const context = canvas.current && width > 0 ? readied(canvas.current, width, height) : null;
      if (!context || !rails) return;
      for (const [index, side] of sides.entries()) {
        paintRail(context, segmentsOf(rails[side], rails, width), index * (size.height + gap), width, size);
      }
    };
    paint();
    return onThemeChange(paint);
  });
  return <canvas ref={canvas} className="rails" style={{ height, width: known }} aria-hidden="true" />;
}

function readied(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const scale = window.devicePixelRatio;
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  const context = canvas.getContext('2d');
  context?.setTransform(scale, 0, 0, scale, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}

/** Width of an element on the page, pixels; 0 before it is known. */
export function useWidth(element: React.RefObject<HTMLElement | null>, isWanted = true): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const { current } = element;
    if (!current || !isWanted) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
    observer.observe(current);
    return () => observer.disconnect();
  }, [element, isWanted]);
  return width;
}
