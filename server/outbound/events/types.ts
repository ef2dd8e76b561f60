/** What the event stream tells of. The part before the dot says whose record it is about. */
export const EVENT_TYPES = [
  'agent.enrolled',
  'agent.online',
  'agent.offline',
  'router.changed',
  'router.online',
  'router.offline',
  'router.move_requested',
  'router.moved',
  'router.removed',
  'router.replaced',
  'job.pending',
  'job.running',
  'job.completed',
  'job.failed',
  'job.deleted',
  'job.expired',
  'job.unknown',
  'forward.created',
  'forward.authorized',
  'forward.lost',
  'forward.closed',
  'campaign.started',
  'campaign.paused',
  'campaign.resumed',
  'campaign.canceled',
  'campaign.aborted',
  'campaign.completed',
  'fault.opened',
  'fault.resolved',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** Something that has happened to a record of a team. */
export interface TeamEvent {
  teamId: string;
  type: EventType;
  /** Ids and what changed; no secrets, no output of scripts. */
  data: Record<string, unknown>;
}

/** The stream says this instead of the events that it can no longer repeat: read again what matters. */
export const RESYNC = 'resync';

/** An event as it is written: its place in the order, and the bytes. */
export interface Entry {
  number: number;
  type: EventType;
  text: string;
}

/** Where the stream of a team stands, to go on from there after a restart. */
export interface KeptStream {
  teamId: string;
  origin: string;
  /** Number of the newest event. */
  last: number;
  /** The newest ones, oldest first, without a gap. */
  entries: Entry[];
  /** Routers that the stream last said to be online. */
  online: string[];
}
