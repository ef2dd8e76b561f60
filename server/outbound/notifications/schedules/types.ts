/** In the order of Date: the week begins on Sunday. */
export const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
export type Day = (typeof DAYS)[number];

/**
 * A part of every week, in minutes since midnight of that day in local time. It ends before `to`;
 * when `to` is not after `from`, it ends on the next day. On a day of a clock change it follows the local
 * clock: a skipped hour is missing from it, a repeated hour is in it twice.
 */
export interface Window {
  day: Day;
  /** 0 to 1439. */
  from: number;
  /** 1 to 1440. */
  to: number;
}

/** When the team is on duty: during its windows a schedule is active. */
export interface Weekly {
  /** IANA name. */
  timeZone: string;
  windows: readonly Window[];
}

export interface Schedule extends Weekly {
  id: string;
  teamId: string;
  name: string;
  createdAt: number;
  updatedAt: number;
}

export interface NewSchedule {
  name: string;
  timeZone: string;
  windows: Window[];
}

/** Missing fields stay unchanged. */
export interface ScheduleChange {
  name?: string | undefined;
  timeZone?: string | undefined;
  windows?: Window[] | undefined;
}
