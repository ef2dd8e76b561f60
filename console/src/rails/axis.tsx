import { clockTime, dayName } from '../parts/times.ts';
import { ticksOf } from './geometry.ts';
import type { Span } from './pieces.ts';

/** Between two hours of the axis, pixels. */
const TICK_PX = 64;

interface Props {
  /** Of the element whose width theirs is, where nothing else has it. */
  ref?: React.RefObject<HTMLDivElement | null>;
  span: Span;
  width: number;
  /** False where the span ends with a whole step, which may lie ahead. */
  endsNow?: boolean;
}

/** The hours of rails, lanes and charts. */
export function Axis({ ref, span, width, endsNow = true }: Props) {
  return (
    <div className="axis" ref={ref}>
      {ticksOf(span, Math.max(width, 1), TICK_PX)
        // Room for the end.
        .filter(({ x }) => x > 16 && x < width - (endsNow ? 60 : 30))
        .map(({ at, x, isDay }) => (
          <span key={at} style={{ left: x }}>
            {isDay ? dayName(at) : clockTime(at)}
          </span>
        ))}
      {endsNow ? <span className="now">{clockTime(span.to)}</span> : null}
    </div>
  );
}
