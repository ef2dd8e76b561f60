import type { Generated } from 'kysely';
import type { Fixed, Flag, Millis } from './schema-columns.ts';

/** What notifications are made of. */

/** A fact that a group may want to hear about, stored in the transaction of the fact (platform/notices). */
export interface NoticesTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  kind: Fixed<string>;
  /** open, resolve or info. */
  phase: Fixed<string>;
  severity: Fixed<string>;
  /** What people see as one thing. */
  key: Fixed<string>;
  record_id: Fixed<string>;
  /** Orders the notices of one record. */
  version: Fixed<number>;
  router_id: Fixed<string | null>;
  agent_id: Fixed<string | null>;
  /** When it happened. */
  at: Fixed<Millis>;
  /** JSON. */
  data: Fixed<string>;
  stored_at: Fixed<Millis>;
  /** When it was given to the threads of the groups; null before. */
  routed_at: Millis | null;
}

/** What one group sees as one thing: it opens, changes and ends. Ended threads stay for a while, in case it comes back. */
export interface ThreadsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  /** Changes in a digest of a group that is deleted. */
  group_id: string;
  key: Fixed<string>;
  /** The kind of its first notice, or `site`, `agent_routers`, `storm`, `contact_lost`, `several`. */
  kind: string;
  /** JSON array: the kinds of the facts that its next message tells or, when there is none, that its last one told. */
  kinds: Generated<string>;
  severity: string;
  router_id: Fixed<string | null>;
  agent_id: Fixed<string | null>;
  site_id: Fixed<string | null>;
  /** open, or ended: nothing in it is open. */
  state: string;
  /** The thread that stands for this one: an agent that is away, a site, an agent's routers, a storm. Nothing is told of this one meanwhile. */
  parent_id: string | null;
  /** The thread that stood for this one and is over: its end names this one. */
  told_in: string | null;
  open_count: number;
  item_count: number;
  /** When its present or last opening began. */
  first_at: Millis;
  ended_at: Millis | null;
  /** What is to be told next: open, end, over, info, update, flapping, steady; null for nothing. */
  pending: string | null;
  pending_since: Millis | null;
  /** When somebody must look at it again. */
  flush_at: Millis | null;
  /** Number of the newest message; 0 before the first. */
  revision: number;
  /** Its present opening was told. */
  told_open: Flag;
  told_at: Millis | null;
  /** How many were open when it was told last. */
  told_count: number;
  /** JSON array: the latest openings. */
  openings: string;
  flapping_since: Millis | null;
  /** Its opening waits for the end of a mute. */
  muted: Flag;
  acknowledged_at: Millis | null;
  /** Id of whoever has taken it over; of which kind, the next column says. */
  acknowledged_by: string | null;
  /** user, api_key or target: somebody who reads the address of the team. */
  acknowledged_by_kind: string | null;
  /** When nobody has it any more; null: until its end. */
  acknowledged_until: Millis | null;
  /** When the next group is told, if nobody has acknowledged it by then. */
  escalate_at: Millis | null;
  /** How many groups of the chain had their turn. */
  escalation_level: number;
  /** JSON array: the groups that were told because nobody acknowledged. They hear what follows, too. */
  escalated_to: string;
  /** Its opening waits for the end of a silence. */
  silenced_until: Millis | null;
  created_at: Fixed<Millis>;
  updated_at: Millis;
  /** Nothing can be added any more: what comes back is a new thread. */
  closed_at: Millis | null;
}

/** One record in a thread. */
export interface ThreadItemsTable {
  thread_id: Fixed<string>;
  record_id: Fixed<string>;
  team_id: Fixed<string>;
  /** Of its newest notice. */
  kind: string;
  severity: string;
  router_id: Fixed<string | null>;
  agent_id: Fixed<string | null>;
  version: number;
  opened_at: Millis;
  resolved_at: Millis | null;
  /** JSON, of its newest notice. */
  data: string;
}

/** What one person gets of one revision of a thread by one channel, or why they do not get it. */
export interface MessagesTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  thread_id: Fixed<string>;
  /** Changes in a digest of a group that is deleted. */
  group_id: string;
  /** Of the thread, for lists of one router. */
  router_id: Fixed<string | null>;
  /** person or target. */
  recipient_type: Fixed<string>;
  recipient_id: Fixed<string>;
  channel: Fixed<string>;
  /** Which address: a person may have several browsers. Null for those that are not sent. */
  address_id: Fixed<string | null>;
  /** Of the thread. */
  revision: number;
  /** open, update, resolve, reminder, still_open or test. What is sent depends on what the person knows by then. */
  kind: Fixed<string>;
  /** JSON array: the kinds of the facts that it tells. */
  kinds: Generated<string>;
  /** pending, sent, withheld, superseded or failed. What was sent fails when its provider says later that it could not be delivered. */
  state: string;
  /** Why it was not sent, as a stable word. */
  reason: string | null;
  /** Messages of one bucket share a rate; empty for those that are not sent. */
  bucket: Fixed<string>;
  attempts: number;
  due_at: Millis | null;
  /** It is not sent any more after that. */
  expires_at: Millis | null;
  claim: string | null;
  claimed_until: Millis | null;
  /** What the provider calls it. */
  provider_ref: string | null;
  /** When it was on the person's telephone, as the provider said later; null: not yet, or not known. */
  delivered_at: Generated<Millis | null>;
  /** When the person read it, as the provider said; null: not yet, or not known. */
  read_at: Generated<Millis | null>;
  /** When it is to stand in a digest of its person; null for what is in none, or in one already. */
  digest_at: Generated<Millis | null>;
  /** The thread of the digest in which it stands. */
  digest_id: Generated<string | null>;
  /** Its subject line when it was sent last; null before. */
  subject: string | null;
  /** IANA name of the zone of the times in it; null without a time, before, and when an earlier program sent it. */
  subject_time_zone: string | null;
  /** Where it goes, as others see it; null without an address. */
  address: Fixed<string | null>;
  created_at: Fixed<Millis>;
  settled_at: Millis | null;
}

export interface MessageAttemptsTable {
  id: Fixed<string>;
  team_id: Fixed<string>;
  message_id: Fixed<string>;
  at: Fixed<Millis>;
  duration_ms: Fixed<number>;
  outcome: Fixed<string>;
  error: Fixed<string | null>;
  /** The provider's own words, without secrets. */
  detail: Fixed<string | null>;
}

/** How fast one provider's account, or one receiver, is used by all processes together. */
export interface SendBucketsTable {
  key: Fixed<string>;
  tokens: number;
  at: Millis;
  /** The provider asked for a pause, or refuses our account. */
  stopped_until: Millis | null;
  /** The provider has refused our account: until then one message tries it, and after that the next. Null: it takes our messages. */
  probing_until: Generated<Millis | null>;
}
