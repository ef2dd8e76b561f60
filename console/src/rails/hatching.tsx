import { memo } from 'react';
import type { Size } from './shapes.ts';

/** Lines that rise to the right, pixels. */
const HATCHES: Record<Size['hatch'], { line: number; step: number }> = { small: { line: 1, step: 3 }, story: { line: 1.5, step: 5 } };

/** What fills a hatched shape. */
export function hatchOf({ hatch }: Size): string {
  return `url(#hatch-${hatch})`;
}

/** The patterns of all hatched shapes: once on a page, so that they have the same lines at the same places. */
export const Hatching = memo(function Hatching() {
  return (
    <svg className="sr" width="0" height="0" aria-hidden="true">
      {Object.entries(HATCHES).map(([name, { line, step }]) => (
        <pattern key={name} id={`hatch-${name}`} width={step} height={step} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect className="hatch-bed" width={step} height={step} />
          <rect className="hatch-line" width={line} height={step} />
        </pattern>
      ))}
    </svg>
  );
});
