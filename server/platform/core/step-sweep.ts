import { randomInt } from 'node:crypto';
import type { Clock } from './clock.ts';
import { MOST_PARTS } from './step-writer.ts';
import { HOUR_STEP_MS, stepStart } from './time-steps.ts';
import type { StepRetention } from './time-steps.ts';

/** Subjects of one write: 80 steps of each become 20 hours; after ten days without a control plane 20,000 do. */
const AT_ONCE = 20;

export interface OldSteps {
  /** Steps that begin earlier become hours, milliseconds since 1970. */
  fineBefore: number;
  /** Names the hours that they become. */
  part: number;
  /** Hours that begin earlier are deleted. */
  hoursBefore: number;
}

export interface StepSweep {
  clock: Pick<Clock, 'now'>;
  keep: StepRetention;
  /** Ids behind `after`, in their order. */
  selectIds: (after: string, limit: number) => Promise<string[]>;
  /** In one write. */
  join: (ids: readonly string[], old: OldSteps) => Promise<void>;
}

/** Joins the older steps of all subjects to hours, and deletes old hours. */
export async function sweepSteps({ clock, keep, selectIds, join }: StepSweep): Promise<void> {
  const fineBefore = stepStart(clock.now() - keep.fineMs, HOUR_STEP_MS);
  const hoursBefore = clock.now() - keep.hourlyMs;
  for (let ids = await selectIds('', AT_ONCE); ids.length > 0; ids = await selectIds(ids.at(-1)!, AT_ONCE)) {
    await join(ids, { fineBefore, part: randomInt(MOST_PARTS), hoursBefore });
  }
}
