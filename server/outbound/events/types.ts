/** Types of the event stream. The part before the dot names the kind of record. */
export const EVENT_TYPES = [
  'agent.enrolled',
  'agent.online',
  'agent.offline',
  'agent.updated',
  'router.changed',
  'router.updated',
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
  'job.guard_armed',
  'job.guard_disarmed',
  'job.rolled_back',
  'backup.stored',
  'config.changed',
  'forward.created',
  'forward.updated',
  'forward.authorized',
  'forward.lost',
  'forward.moved',
  'forward.closed',
  'forward.traffic',
  'terminal.opened',
  'terminal.ended',
  'campaign.started',
  'campaign.paused',
  'campaign.resumed',
  'campaign.canceled',
  'campaign.aborted',
  'campaign.completed',
  'campaign.progress',
  'fault.opened',
  'fault.resolved',
  'site.created',
  'site.updated',
  'site.removed',
  'member.joined',
  'member.updated',
  'member.removed',
  'notification.changed',
  'group.created',
  'group.updated',
  'group.removed',
  'topic.created',
  'topic.updated',
  'topic.removed',
  'schedule.created',
  'schedule.updated',
  'schedule.removed',
  'target.created',
  'target.updated',
  'target.removed',
  'silence.created',
  'silence.removed',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** A change of a record of a team. */
export interface TeamEvent {
  teamId: string;
  type: EventType;
  /** Ids and changed fields; no secrets, no script output. */
  data: Record<string, unknown>;
}

/** Sent instead of events that can no longer be repeated: the reader must read its data again. */
export const RESYNC = 'resync';

/** Stands in the shared log of several control planes for events of a team that had to be given up. */
export const LOST_EVENTS = `${RESYNC}\n{}`;

/** An event as sent: its number and its text. */
export interface Entry {
  number: number;
  type: EventType;
  text: string;
}

/** State of a team's stream, to continue after a restart. */
export interface KeptStream {
  teamId: string;
  origin: string;
  /** Number of the newest event. */
  last: number;
  /** The newest events, oldest first, without gaps. */
  entries: Entry[];
  /** Routers that were last published as online. */
  online: string[];
}
