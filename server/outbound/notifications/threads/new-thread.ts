import type { Place } from './match.ts';
import type { NoticeRow, ThreadRow } from './types.ts';

/** Kind of the threads that somebody makes to test a group. */
export const TEST_KIND = 'test';

/** Where a thread belongs: only those of routers and their forwards have one router. */
export function placeOfThread(
  key: string,
  notice: Pick<NoticeRow, 'router_id' | 'agent_id'>,
  place: Place,
): Pick<ThreadRow, 'router_id' | 'agent_id' | 'site_id'> {
  return {
    router_id: /^(?:router|forward):/.test(key) ? notice.router_id : null,
    agent_id: notice.agent_id ?? place.agentId,
    site_id: place.siteId,
  };
}

export interface NewThread {
  id: string;
  teamId: string;
  groupId: string;
  key: string;
  kind: string;
  now: number;
}

/** Nobody has taken the thread over. */
export const NOT_TAKEN = { acknowledged_at: null, acknowledged_by: null, acknowledged_by_kind: null, acknowledged_until: null };

/** Nobody has taken it over, and nobody had to be asked. */
export const FRESH = { ...NOT_TAKEN, escalate_at: null, escalation_level: 0, escalated_to: '[]' };

/** A thread in which nothing happened yet. */
export function newThread({ id, teamId, groupId, key, kind, now }: NewThread): ThreadRow {
  return {
    id,
    team_id: teamId,
    group_id: groupId,
    key,
    kind,
    kinds: kind.includes('.') ? JSON.stringify([kind]) : '[]',
    severity: 'info',
    router_id: null,
    agent_id: null,
    site_id: null,
    state: 'open',
    parent_id: null,
    told_in: null,
    open_count: 0,
    item_count: 0,
    first_at: now,
    ended_at: null,
    pending: null,
    pending_since: null,
    flush_at: null,
    revision: 0,
    told_open: 0,
    told_at: null,
    told_count: 0,
    openings: '[]',
    flapping_since: null,
    muted: 0,
    ...FRESH,
    silenced_until: null,
    created_at: now,
    updated_at: now,
    closed_at: null,
  };
}
