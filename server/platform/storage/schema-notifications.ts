import type { Fixed, Millis } from './schema-columns.ts';

/** The tables of migration 3: recipients of notifications, topics, and quiet times. */

export interface TopicsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  name: string;
  /** JSON array of event kinds. */
  events: string;
  created_at: Fixed<Millis>;
  updated_at: Millis;
}

export interface SchedulesTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  name: string;
  time_zone: string;
  /** JSON array of weekly windows. */
  windows: string;
  created_at: Fixed<Millis>;
  updated_at: Millis;
}

export interface NotificationGroupsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  name: string;
  schedule_id: string | null;
  mute: string;
  created_at: Fixed<Millis>;
  updated_at: Millis;
  /** It is in no list any more, and tells only ends. */
  deleted_at: Millis | null;
}

/** One item of a group, at its position in the list. Links are replaced, never changed. */
interface GroupLink {
  team_id: Fixed<string>;
  group_id: Fixed<string>;
  position: Fixed<number>;
}

export interface GroupRecipientsTable extends GroupLink {
  user_id: Fixed<string>;
}

export interface GroupNotifiablesTable extends GroupLink {
  user_id: Fixed<string>;
  channel: Fixed<string>;
}

export interface GroupTopicsTable extends GroupLink {
  topic_id: Fixed<string>;
}

export interface GroupSitesTable extends GroupLink {
  site_id: Fixed<string>;
}

export interface GroupTargetsTable extends GroupLink {
  target_id: Fixed<string>;
}

/** The group that is told next when nobody acknowledges. */
export interface GroupEscalationsTable {
  group_id: Fixed<string>;
  team_id: Fixed<string>;
  next_group_id: Fixed<string>;
  after_minutes: Fixed<number>;
}

/** An address of the team that is nobody's own: a chat channel, a webhook, a key of an alarm service. */
export interface NotificationTargetsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  name: string;
  channel: Fixed<string>;
  /** JSON, encrypted. */
  address: string;
  /** Keyed hash, to recognise the address. */
  address_key: string;
  /** The address without its secrets. */
  shown: string;
  /** Addresses with the same one share a rate; null: its own. */
  bucket: string | null;
  /** When somebody typed in the code that was sent there; null before. */
  verified_at: Millis | null;
  /** Why nothing is sent there any more. */
  off_reason: string | null;
  off_at: Millis | null;
  created_at: Fixed<Millis>;
  updated_at: Millis;
}

/** A code that was sent to an address to prove who reads it. No reference to the owner: the limits count deleted ones, too. */
export interface AddressProofsTable {
  id: Fixed<string>;
  /** The team in which somebody asked for it. */
  team_id: Fixed<string>;
  /** The person whose address it is; null for the team's. */
  user_id: Fixed<string | null>;
  /** The target or contact. */
  owner_id: Fixed<string>;
  address_key: Fixed<string>;
  /** Keyed hash. */
  code_hash: Fixed<string>;
  /** Wrong codes so far. */
  tries: number;
  sent_at: Millis;
  /** 0 once it was used. */
  expires_at: Millis;
}

/** An address of a person beside the email of the account. It belongs to the person in all teams. */
export interface ContactsTable {
  id: Fixed<string>;
  user_id: Fixed<string>;
  channel: Fixed<string>;
  /** JSON, encrypted. */
  address: string;
  /** Keyed hash, to recognise the address. */
  address_key: string;
  /** What others see of it. */
  shown: string;
  /** Addresses with the same one share a rate; null: its own. */
  bucket: string | null;
  /** When the person proved it; null before. */
  verified_at: Millis | null;
  /** Why nothing is sent there: the person's own decision, or a receiver's. */
  off_reason: string | null;
  off_at: Millis | null;
  created_at: Fixed<Millis>;
  updated_at: Millis;
}

/** A link by which a person proves a Telegram chat: whoever opens it first proves theirs. */
export interface TelegramLinksTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  user_id: Fixed<string>;
  /** Keyed hash. */
  token_hash: Fixed<string>;
  created_at: Millis;
  /** When it ended, for a link that was taken back or replaced. */
  expires_at: Millis;
  /** When somebody opened it; null before. */
  proved_at: Millis | null;
  /** The contact that it has proved. No reference: the person may delete it. */
  contact_id: string | null;
}

/** How far the messages to the bot were read. One row: one control plane reads at a time. */
export interface TelegramReadersTable {
  id: Fixed<string>;
  /** The bot whose update is the next; null before the first one. */
  bot_id: string | null;
  /** `offset` of the next request; null: the earliest that Telegram has. */
  next_update: number | null;
  /** When `next_update` was set. */
  moved_at: Millis | null;
  due_at: Millis;
  claim: string | null;
  claimed_until: Millis | null;
  /** End of the last request. */
  read_at: Millis | null;
  /** Requests in a row without an answer that counts. */
  failures: number;
  /** Why the last one failed, as a stable word. */
  problem: string | null;
}

/** What a person does not want to get from a team any more. */
export interface NotificationOptoutsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  user_id: Fixed<string>;
  /** all, group or topic. */
  scope: Fixed<string>;
  /** Id of the group or topic; empty for all. */
  scope_id: Fixed<string>;
  at: Fixed<Millis>;
}

/** Facts of a router, a site or the whole team that nobody hears of for a time. */
export interface SilencesTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  router_id: Fixed<string | null>;
  site_id: Fixed<string | null>;
  from_at: Fixed<Millis>;
  until_at: Fixed<Millis>;
  reason: Fixed<string>;
  created_by_kind: Fixed<string>;
  created_by: Fixed<string>;
  created_at: Fixed<Millis>;
}
