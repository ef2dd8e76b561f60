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
