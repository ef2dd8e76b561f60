import type { FaultType, Severity } from '../../../fleet/faults/types.ts';
import type { CampaignChange, Outcome, TargetStatus } from '../../../work/campaigns/types.ts';
import type { Cause } from '../../../platform/notices/causes.ts';
import type { Likeness } from '../threads/gather.ts';

/** What a message is about, and the words that are made of it. All names and details come from routers or users: hostile text. */

export type { FaultType, Severity };

/** Languages with a catalogue. */
export const LOCALES = ['en', 'de', 'es'] as const;
export type Locale = (typeof LOCALES)[number];

export type MessageKind =
  | 'open'
  | 'update'
  | 'resolve'
  /** Still open and not acknowledged. */
  | 'reminder'
  /** Told when a mute ends. */
  | 'still_open'
  /** Opening and end in one message. */
  | 'was_away'
  | 'digest'
  | 'escalation'
  /** Somebody has taken it over: `acknowledgedBy`. */
  | 'acknowledged'
  | 'test';

/** A record's name is hostile text: routers and users choose it. */
export interface Named {
  id: string;
  name: string;
}

/** `detail` is English; where there are `causes`, they say the same in codes. */
export type ThreadSubject =
  /** The agent is away, with all the routers behind it. */
  | { type: 'agent'; agent: Named; site: Named | null; routers: number }
  | { type: 'router'; router: Named; site: Named | null; fault: FaultType; detail: string; causes?: readonly Cause[] }
  /** Several routers of a site with the same fault. */
  | { type: 'site'; site: Named; fault: FaultType; affected: number; of: number }
  /** Several routers of an agent that have no site. `of`: all of the agent. */
  | { type: 'agent_routers'; agent: Named; fault: FaultType; affected: number; of: number }
  | { type: 'jobs'; router: Named; site: Named | null; outcomes: JobOutcomes; detail: string }
  | { type: 'campaign'; campaign: Named; change: CampaignChange['kind']; counts: Partial<Record<TargetStatus, number>> }
  | { type: 'forward'; forward: Named; router: Named | null; change: 'created' | 'lost' | 'closed' }
  /** The configuration differs from the backup before: lines added and removed. */
  | { type: 'config'; router: Named; site: Named | null; added: number; removed: number }
  | { type: 'agent_revoked'; agent: Named; site: Named | null }
  /**
   * Messages to this address fail. `address` is masked: it may be a secret. `to`: the target's name or the person's email, and `group`, whose
   * message it was; empty in facts of older versions.
   */
  | { type: 'delivery'; channel: string; address: string; reason: string; to: string; group: string }
  | {
      type: 'server';
      warning: 'certificate' | 'disk' | 'contact_lost';
      detail: string;
      causes?: readonly Cause[];
      affected?: number;
      of?: number;
    }
  | { type: 'storm'; sites: number; routers: number; first: string }
  /** Things of one kind that happened at once. `routers`: null unless each is of another router. */
  | { type: 'several'; of: Likeness; count: number; routers: number | null; outcomes: JobOutcomes }
  /** What happened between two times, for people who want a summary. */
  | { type: 'digest'; from: number; to: number }
  /** More messages than a person gets in an hour are not sent. */
  | { type: 'held_back'; messages: number }
  | { type: 'test'; group: Named | null; by: string }
  /** Proof that a person reads this address: a code to type in, or null if the message's link proves it. */
  | { type: 'proof'; code: string | null; by: string; validMs: number };

export type JobOutcomes = Partial<Record<Exclude<Outcome, 'deleted'>, number>>;

/** One record behind a thread. */
export interface ThreadItem {
  /** What is wrong, in words that are not ours: hostile text. Empty when the fault or the subject says it. */
  text: string;
  /** What `text` says, for words of other languages. */
  causes?: readonly Cause[];
  fault?: FaultType;
  router: Named | null;
  site: Named | null;
  /** Routers behind this item, when it stands for several: a site in a storm, or an agent's routers without a site; then `text` names the agent. */
  routers?: number;
  /** Of a thread that this one stands for. */
  threadId?: string;
  /** That thread, where its own words say more than its name and times. */
  view?: ThreadView;
  openedAt: number;
  resolvedAt: number | null;
}

/** A thread at one revision, as its message tells it. Times in milliseconds since 1970. */
export interface ThreadView {
  id: string;
  revision: number;
  kind: MessageKind;
  severity: Severity;
  subject: ThreadSubject;
  /** The first ones, at most {@link MAX_ITEMS} are shown. `itemCount` and `openCount` count all. */
  items: readonly ThreadItem[];
  itemCount: number;
  openCount: number;
  /** When it began: of what opened again, the last time. */
  firstAt: number;
  /** When the newest fact happened: a forward that has closed was opened long before. */
  lastAt: number;
  endedAt: number | null;
  /** Opened `times` times within `withinMs`. `now` says how it goes on: comes and goes, quiet since a while, or stays open. */
  flapping: { times: number; withinMs: number; now?: 'flapping' | 'quiet' | 'open' } | null;
  /** Routers that stay offline although the cause has ended. */
  stillOpen: number;
  acknowledgedBy: string | null;
  /** Null for a thread without a site, or with several. */
  siteTimeZone: string | null;
  team: string;
  /** Name of the group that tells it; null for what is of several groups or of none, as a digest. */
  group: string | null;
  /** Page of the thread in the console. */
  url: string;
  /** When the message is written: times of the same day are shown without a date. */
  at: number;
}

/** More records than this do not help on a telephone; the message says how many there are, and the link shows all. */
export const MAX_ITEMS = 10;

export interface Reader {
  locale: Locale;
  timeZone: string;
}

/** How serious the message is now: an end is good news, whatever has ended. */
export type Tone = Severity | 'good';

/** The words of a message in the reader's language, for every channel. Plain text: each channel escapes for its own format. */
export interface Text {
  locale: Locale;
  tone: Tone;
  /** One line for a lock screen. */
  subject: string;
  /** IANA name of the zone of the times in the subject; null when it has none. */
  subjectTimeZone: string | null;
  /** The most important sentence. */
  first: string;
  /** Further sentences, numbers first. */
  lines: readonly string[];
  /** One record each, at most {@link MAX_ITEMS}. */
  rows: readonly string[];
  /** Records in all; those that are not in `rows` are summed up as "and 802 more". */
  rowCount: number;
  url: string;
  /** Page on which the reader takes the thread over; null when there is nothing to take over. */
  acknowledgeUrl: string | null;
  /** The subject taken apart, for formats with fields of their own: "agent away", "Depot Madrid", "since 08:31". */
  parts: { what: string; where: string; when: string };
  /** The parts of the layout. */
  labels: Labels;
}

export interface Labels {
  /** Of the tone: "Critical", "Over" */
  tone: string;
  open: string;
  acknowledge: string;
  unsubscribe: string;
  /** Why the reader gets this: "You get this because the notification group On call of the team Depot …" */
  reason: string;
}
