/** Waits before something is told. Milliseconds. NOTIFY: wait for quiet, not for a clock. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** How long nothing new may come before something is told, and the longest wait for that. */
export interface Settling {
  quietMs: number;
  mostMs: number;
}

/** An outage of several routers is noticed within seconds. With the hint, the decision and the sending, the first message comes within 15 s. */
export const OPENING: Settling = { quietMs: 3 * SECOND, mostMs: 14 * SECOND };
/**
 * What follows an opening of its place and kind that was just told: by how often it was told. The first message has said that there is trouble,
 * and each further one should be worth reading. Grows as the group_interval of other services does, and ends far below their five minutes.
 */
export const FOLLOWING: readonly Settling[] = [
  { quietMs: 15 * SECOND, mostMs: MINUTE },
  { quietMs: 30 * SECOND, mostMs: 90 * SECOND },
  { quietMs: MINUTE, mostMs: 2 * MINUTE },
];
/** An opening is news for so long. */
export const STILL_NEW_MS = 10 * MINUTE;
/** Good news may wait a little longer, so that what comes back step by step is told once. */
export const ENDING: Settling = { quietMs: 10 * SECOND, mostMs: 30 * SECOND };
/** What stands for others is looked at when nothing of it has moved for a moment: its end is that of the last one. */
export const GATHERING: Settling = { quietMs: 10 * SECOND, mostMs: MINUTE };
/** Jobs of a router end one after the other. */
export const JOBS: Settling = { quietMs: MINUTE, mostMs: MINUTE };
/** Jobs of a campaign, for a group that follows jobs and not campaigns. */
export const CAMPAIGN_JOBS: Settling = { quietMs: 15 * MINUTE, mostMs: 15 * MINUTE };
/**
 * What opens again soon after it was told to be over is told only when it stays open: longer than the two minutes of a router that reboots,
 * shorter than the five minutes for which other services pause.
 */
export const AGAIN: Settling = { quietMs: 3 * MINUTE, mostMs: 3 * MINUTE };

/** Openings within this time count for flapping, and a thread that has ended waits this long for the next. */
export const FLAP_WINDOW_MS = 60 * MINUTE;
/** So many openings are flapping. */
export const FLAP_OPENINGS = 3;
/** A flapping thread that stays open for this long is told as open, */
export const STAYS_OPEN_MS = 15 * MINUTE;
/** and one that stays quiet for this long as over. */
export const STAYS_QUIET_MS = 30 * MINUTE;

/** So many routers of a site, or without a site behind an agent, with the same fault are one thread. */
export const PLACE_ROUTERS = 5;
/** So many that opened one after the other within {@link STILL_NEW_MS} and are still open are one, too: it counts those that were told. */
export const PLACE_ROUTERS_IN_TURN = 3;
/** More threads than this at once are a storm. */
export const STORM_THREADS = 5;
/** A storm is over when no more threads than this remain open. */
export const STORM_REST = 3;
/** A thread that stands for others tells a change of its number this seldom, */
export const UPDATE_EVERY_MS = 5 * MINUTE;
/** and only a change by this part. */
export const UPDATE_PART = 0.1;

/** Critical threads that nobody acknowledges are told again. */
export const REMIND_EVERY_MS = 4 * 60 * MINUTE;

/** Contact lost with more than half of the agents, and at least this many, is probably the line of this server. */
export const SUSPECT_AGENTS = 10;
/** Then it is told only if it lasts this long. */
export const SUSPECT_MS = 60 * SECOND;

/** When a thread is looked at that is waiting for quiet. @param since when the first untold change came */
export function settledAt({ quietMs, mostMs }: Settling, since: number, now: number): number {
  return Math.min(now + quietMs, since + mostMs);
}

/** The longest time for which a thread waits: a mute may last for a week. */
export const LONGEST_WAIT_MS = 8 * 24 * 60 * MINUTE;
