import type { LiveForward } from '../live-forward.ts';
import type { ForwardCounts } from '../store.ts';
import type { Carried } from '../types.ts';

/** @param unwritten what the record lacks of connections that have ended */
export function sumCarried(
  { connections, refused, bytesIn, bytesOut }: Readonly<ForwardCounts>,
  carriers: readonly Pick<LiveForward, 'connectionCount' | 'openBytes'>[],
): Carried {
  const sum = { open: 0, connections, refused, bytesIn, bytesOut };
  for (const { connectionCount, openBytes } of carriers) {
    sum.open += connectionCount;
    sum.bytesIn += openBytes.in;
    sum.bytesOut += openBytes.out;
  }
  return sum;
}
