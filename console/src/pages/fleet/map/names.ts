interface Point {
  x: number;
  y: number;
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface PlacedName<Mark> {
  mark: Mark;
  x: number;
  y: number;
  anchor: 'start' | 'end';
}

/** Half of a mark with the air around it, pixels. */
const MARK_PX = 9;
/** From the middle of a mark to its name, pixels. */
const AWAY_PX = 12;
const LINE_PX = 14;
/** Of a letter of 12 pixels, on average and with air: a text is measured only once it is drawn. */
const LETTER_PX = 6.8;

/**
 * Where the names of marks stand: at the right of the mark, else at its left. A name that would cover a mark or an earlier name is left out:
 * the list beside the map has it.
 * @param marks the most important first
 */
export function namesBeside<Mark extends Point>(
  marks: readonly Mark[],
  { nameOf, width }: { nameOf: (mark: Mark) => string; width: number },
): PlacedName<Mark>[] {
  const taken: Box[] = marks.map(({ x, y }) => ({ left: x - MARK_PX, right: x + MARK_PX, top: y - MARK_PX, bottom: y + MARK_PX }));
  const placed: PlacedName<Mark>[] = [];
  for (const mark of marks) {
    const long = nameOf(mark).length * LETTER_PX;
    const across = { top: mark.y - LINE_PX / 2, bottom: mark.y + LINE_PX / 2 };
    const right = { left: mark.x + AWAY_PX, right: mark.x + AWAY_PX + long, ...across };
    const left = { left: mark.x - AWAY_PX - long, right: mark.x - AWAY_PX, ...across };
    const box = [right, left].find((box) => box.left >= 0 && box.right <= width && !taken.some((other) => overlap(box, other)));
    if (!box) continue;
    taken.push(box);
    placed.push({ mark, y: mark.y, ...(box === right ? { x: right.left, anchor: 'start' } : { x: left.right, anchor: 'end' }) });
  }
  return placed;
}

function overlap(one: Box, other: Box): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}
