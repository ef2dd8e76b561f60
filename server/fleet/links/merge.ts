import { RoundTrips } from '../../platform/core/round-trips.ts';
import type { LinkStepRow } from './types.ts';

type Measured = Pick<LinkStepRow, 'answered' | 'lost' | 'least_us' | 'most_us' | 'counts'>;

/** Several steps as one. Its quantiles are those of all round trips together. */
export function mergeSteps(rows: readonly Measured[]): { columns: Measured; trips: RoundTrips } {
  const trips = new RoundTrips();
  let [answered, lost] = [0, 0];
  for (const row of rows) {
    trips.addStored({ least: row.least_us, most: row.most_us, counts: row.counts });
    answered += row.answered;
    lost += row.lost;
  }
  return { columns: columnsOf(trips, lost, answered), trips };
}

export function columnsOf(trips: RoundTrips, lost: number, answered = trips.count): Measured {
  const { least, most, counts } = trips.stored;
  return { answered, lost, least_us: least, most_us: most, counts };
}
