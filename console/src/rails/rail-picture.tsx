import './rails.css';
import { useMemo, useRef } from 'react';
import { segmentsOf } from './geometry.ts';
import { hatchOf } from './hatching.tsx';
import type { Rails } from './pieces.ts';
import { shapesOf } from './shapes.ts';
import type { Shape, Size } from './shapes.ts';
import { useWidth } from './use-width.ts';

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

/** The agent's rail above and the router's below. The picture says nothing to readers: a text must stand beside it. */
export function RailPicture({ rails, size, only, width: known }: Props) {
  const picture = useRef<SVGSVGElement>(null);
  const seen = useWidth(picture, known === undefined);
  const width = known ?? seen;
  const count = only ? 1 : 2;
  const gap = size.height > 20 ? GAP.story : GAP.small;
  const height = count * size.height + (count - 1) * gap;
  const shapes = useMemo((): Shape[] => {
    if (!rails || width === 0) return [];
    const sides = only ? [only] : (['agent', 'router'] as const);
    const laid = sides.map((side, index) => ({ segments: segmentsOf(rails[side], rails, width), top: index * (size.height + gap) }));
    return shapesOf(laid, width, size);
  }, [rails, size, only, width, gap]);
  return (
    <svg ref={picture} className="rails" style={{ height, width: known }} aria-hidden="true">
      {shapes.map(({ look, d }) => (
        <path key={look} className={`rail-${look}`} d={d} fill={look === 'hatched' ? hatchOf(size) : undefined} />
      ))}
    </svg>
  );
}
