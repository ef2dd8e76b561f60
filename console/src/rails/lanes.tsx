import { Fragment } from 'react';
import { AppLink } from '../parts/app-link.tsx';
import type { Span } from './pieces.ts';

/** Something that was done or found: a moment, or a time with an end. */
export interface Mark {
  id: string;
  at: number;
  /** Undefined for a moment. */
  until?: number | undefined;
  text: string;
  isBad?: boolean;
  /** Missing on the page to which it would lead. */
  href?: string;
}

export interface Lane {
  name: string;
  marks: readonly Mark[];
}

/** About so wide is a letter of the smallest size, pixels. */
const LETTER_PX = 5.8;

/** Below the rails, on their axis: ticks for moments, open boxes for times, with a text where there is room for it. */
export function Lanes({ lanes, span, width }: { lanes: readonly Lane[]; span: Span; width: number }) {
  return lanes.map(({ name, marks }) => (
    <Fragment key={name}>
      <span className="lane-name">{name}</span>
      <div className="lane">
        {placed(marks, span, width).map(({ mark, left, wide, text }) => (
          <Fragment key={mark.id}>
            <span
              className={`${mark.until === undefined ? 'tick' : 'box'}${mark.isBad ? ' bad' : ''}`}
              style={mark.until === undefined ? { left } : { left, width: wide }}
            />
            {text === undefined ? null : <Text mark={mark} place={text.isLeft ? { right: width - left } : { left: text.x }} />}
          </Fragment>
        ))}
      </div>
    </Fragment>
  ));
}

function Text({ mark: { text, href, isBad }, place }: { mark: Mark; place: React.CSSProperties }) {
  const className = isBad ? 'text bad' : 'text';
  return href === undefined ? (
    <span className={className} style={place}>
      {text}
    </span>
  ) : (
    <AppLink href={href} className={className} style={place}>
      {text}
    </AppLink>
  );
}

interface PlacedMark {
  mark: Mark;
  left: number;
  wide: number;
  text: { x: number; isLeft: boolean } | undefined;
}

/** Each text stands right of its mark, or left of it near the end, and only where it touches nothing. */
function placed(marks: readonly Mark[], { from, to }: Span, width: number): PlacedMark[] {
  const x = (moment: number): number => ((Math.min(Math.max(moment, from), to) - from) / (to - from)) * width;
  const spots = marks
    .filter(({ at, until }) => at < to && (until ?? at) >= from)
    .sort((one, other) => one.at - other.at)
    .map((mark) => {
      const wide = mark.until === undefined ? 3 : Math.max(3, x(mark.until) - x(mark.at));
      return { mark, left: Math.min(x(mark.at), width - wide), wide };
    });
  let free = 0;
  return spots.map((spot, index) => {
    const long = spot.mark.text.length * LETTER_PX + 10;
    const end = spot.left + spot.wide;
    const next = spots[index + 1]?.left ?? width;
    if (end + long <= next) {
      free = end + long;
      return { ...spot, text: { x: end, isLeft: false } };
    }
    const isRoomLeft = spot.left - long >= free;
    free = end;
    return { ...spot, text: isRoomLeft ? { x: spot.left, isLeft: true } : undefined };
  });
}
