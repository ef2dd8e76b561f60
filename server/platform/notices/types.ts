import type { Cause } from './causes.ts';

/** Kinds of notices besides faults, which are `fault.<type>`. Topics name them, so they never change. */
export const OTHER_NOTICE_KINDS = [
  'job.failed',
  'job.expired',
  'job.unknown',
  'job.completed',
  'campaign.started',
  'campaign.paused',
  'campaign.resumed',
  'campaign.canceled',
  'campaign.aborted',
  'campaign.completed',
  'forward.created',
  'forward.lost',
  'forward.closed',
  'config.changed',
  'agent.revoked',
  'server.certificate',
  'server.disk',
] as const;

/** `delivery.failing` is told to the administrators of a team, whatever they follow. */
export type NoticeKind = (typeof OTHER_NOTICE_KINDS)[number] | 'delivery.failing' | `fault.${string}`;

/** `open` and `resolve` belong together by record; `info` stands alone. */
export type NoticePhase = 'open' | 'resolve' | 'info';

export type NoticeSeverity = 'critical' | 'warning' | 'info';

/** A fact that people may want to hear about. Written in the transaction that stores the fact. */
export interface NewNotice {
  teamId: string;
  kind: NoticeKind;
  phase: NoticePhase;
  severity: NoticeSeverity;
  /** What people see as one thing: `agent:<id>`, `router:<id>:<type>`, `campaign:<id>` … */
  key: string;
  /** The fault, job, campaign … An `open` and its `resolve` carry the same. */
  recordId: string;
  /** Orders the notices of one record: rising. `next`: for a record that has no number of its own. */
  version: number | 'next';
  routerId?: string | null;
  agentId?: string | null;
  /** When it happened, which may be before it was stored. */
  at: number;
  /** Only this group hears it, whatever it follows. */
  groupId?: string;
  /** What a message says beyond the names of the records. Text of routers and people, so it is cut where it is written. */
  data?: Readonly<Record<string, string | number | boolean | null>>;
  /** Why, for words in the language of the reader. What `data` says of it is English. */
  causes?: readonly Cause[];
}
