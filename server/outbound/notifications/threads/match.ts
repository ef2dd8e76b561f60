import { hasKind } from '../../../platform/notices/patterns.ts';
import type { Mute } from '../groups/types.ts';
import type { Weekly } from '../schedules/types.ts';
import type { NoticeRow } from './types.ts';

/** Which groups hear of a fact, and as part of what. Pure. */

/** What decides about a group's threads. */
export interface Listener {
  id: string;
  /** It hears of nothing new. */
  isDeleted: boolean;
  /** Entries of all its topics. */
  events: readonly string[];
  /** Empty: everywhere. */
  sites: readonly string[];
  mute: Mute;
  schedule: Weekly | null;
}

/** The sites that a notice concerns: that of its router, those of its agent's routers, those of a campaign's. */
export interface Place {
  /** The one site; null for none or several. */
  siteId: string | null;
  sites: readonly string[];
  /** The agent of its router. */
  agentId: string | null;
}

/** Why a group does not hear of a fact. */
export const NOT_HEARD_REASONS = ['other_kinds', 'other_sites'] as const;
export type NotHeard = (typeof NOT_HEARD_REASONS)[number];

/** Null when it hears of it. A group without sites hears of everything, also of routers that stand nowhere. */
export function whyNotFor(listener: Pick<Listener, 'events' | 'sites'>, kind: string, place: Place): NotHeard | null {
  if (!hasKind(listener.events, kind)) return 'other_kinds';
  const isThere = listener.sites.length === 0 || place.sites.some((site) => listener.sites.includes(site));
  return isThere ? null : 'other_sites';
}

export function isFor(listener: Listener, kind: string, place: Place): boolean {
  if (listener.isDeleted) return false;
  // The cheap question first: a fact is of few sites, and a team may have 200 groups.
  if (listener.sites.length > 0 && !place.sites.some((site) => listener.sites.includes(site))) return false;
  return whyNotFor(listener, kind, place) === null;
}

/** Kinds that only one group hears, whatever it follows. */
export const DELIVERY_FAILING = 'delivery.failing';

/** The one group that hears a notice; undefined for all that follow its kind. */
export function onlyGroupOf({ kind, data }: Pick<NoticeRow, 'kind' | 'data'>): string | undefined {
  return kind === DELIVERY_FAILING ? (JSON.parse(data) as { group_id?: string }).group_id : undefined;
}

/** The campaign of a job's notice, if it belongs to one. */
export type CampaignOf = (idempotencyKey: string) => string | undefined;

export interface Destination {
  key: string;
  /** The group hears of the whole anyway: the record is counted, and nothing is told of it. */
  isCountedOnly: boolean;
}

/** The thread that a notice belongs to. Jobs of a campaign belong to the campaign. */
export function destinationOf(listener: Listener, notice: NoticeRow, campaignOf: CampaignOf): Destination {
  if (!notice.kind.startsWith('job.')) return { key: notice.key, isCountedOnly: false };
  const { idempotency_key: jobKey } = JSON.parse(notice.data) as { idempotency_key?: string };
  const campaignId = campaignOf(jobKey ?? '');
  if (campaignId === undefined) return { key: notice.key, isCountedOnly: false };
  return { key: `campaign:${campaignId}`, isCountedOnly: hasKind(listener.events, 'campaign.completed') };
}
