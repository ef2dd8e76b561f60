import type { Weekly } from '../schedules/types.ts';

/** When a group is muted; mute.ts has the meanings. */
export const MUTES = ['never', 'always', 'schedule-active', 'schedule-inactive'] as const;
export type Mute = (typeof MUTES)[number];

/** Ways to reach a person. */
export const CHANNELS = ['email', 'sms', 'whatsapp', 'telegram', 'slack', 'teams', 'push', 'webhook'] as const;
export type Channel = (typeof CHANNELS)[number];

/** A person, and a way to reach them. */
export interface Notifiable {
  /** Of the person. */
  id: string;
  channel: Channel;
}

/** Lists of ids, without duplicates, in the given order. */
export interface GroupLinks {
  /** People. */
  recipients: string[];
  notifiables: Notifiable[];
  topics: string[];
  sites: string[];
  /** Addresses of the team. */
  targets: string[];
}

/** Who is told when nobody acknowledges. */
export interface Escalation {
  /** Time after the first message. */
  afterMinutes: number;
  /** The group that is told then. */
  to: string;
}

/** Who is notified about what, where and when. */
export interface Group extends GroupLinks {
  id: string;
  teamId: string;
  name: string;
  scheduleId: string | null;
  schedule: Weekly | null;
  mute: Mute;
  escalation: Escalation | null;
  createdAt: number;
  updatedAt: number;
}

/** The lists that are given; each replaces the whole list. */
export type GivenLinks = { [List in keyof GroupLinks]?: GroupLinks[List] | undefined };

/** Missing fields stay unchanged. */
export interface GroupChange extends GivenLinks {
  name?: string | undefined;
  scheduleId?: string | null | undefined;
  mute?: Mute | undefined;
  escalateAfterMinutes?: number | null | undefined;
  escalateTo?: string | null | undefined;
}

export type NewGroup = GroupChange & { name: string };
