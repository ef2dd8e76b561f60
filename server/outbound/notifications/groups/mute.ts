import { isActive } from '../schedules/active.ts';
import type { Weekly } from '../schedules/types.ts';
import type { Mute } from './types.ts';

/**
 * Whether the group is muted at this time. The names are historic: with `schedule-active` the schedule says when the group
 * is active, so it is muted while the schedule is **inactive**; `schedule-inactive` is the opposite. Without a
 * schedule nothing is muted: an extra message is better than a missing one.
 * @param now milliseconds since 1970
 */
export function isMuted(mute: Mute, schedule: Weekly | null, now: number): boolean {
  switch (mute) {
    case 'never':
      return false;
    case 'always':
      return true;
    case 'schedule-active':
      return schedule !== null && !isActive(schedule, now);
    case 'schedule-inactive':
      return schedule !== null && isActive(schedule, now);
  }
}
