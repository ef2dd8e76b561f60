import { isActive } from '../schedules/active.ts';
import type { Weekly } from '../schedules/types.ts';
import type { Mute } from './types.ts';

/**
 * Does the group keep silent at this moment? The names are historic: `schedule-active` lets the schedule decide when
 * the group is active, so it mutes while the schedule is **inactive**; `schedule-inactive` is its opposite. Without a
 * schedule nothing is muted: one message too many is better than one that is missing.
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
