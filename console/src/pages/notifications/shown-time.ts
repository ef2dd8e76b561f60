import { offsetAt } from '../../parts/times.ts';

const DAY_MS = 86_400_000;

/**
 * When clocks in the zone of the shown times say this, milliseconds since 1970; NaN for what is no time. One that comes twice is the first
 * of them, one that is left out comes after the gap.
 * @param wall `2031-05-01T08:30`, of a field for date and time
 */
export function momentOf(wall: string): number {
  const asUtc = Date.parse(`${wall}Z`);
  if (Number.isNaN(asUtc)) return NaN;
  const offsets = [offsetAt(asUtc - DAY_MS), offsetAt(asUtc + DAY_MS)];
  const moments = [asUtc - Math.max(...offsets), asUtc - Math.min(...offsets)];
  return moments.find((at) => at + offsetAt(at) === asUtc) ?? moments[1]!;
}
