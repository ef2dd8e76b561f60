import { beginOfDay } from '../../../parts/times.ts';

/** The filter of the audit log, as in its address. */
export interface AuditSearch {
  /** Id of a person or key. */
  actor?: string;
  /** Beginning of the action. */
  action?: string;
  /** First and last day, `2031-05-01`, of the zone in which times are shown. */
  from?: string;
  to?: string;
}

const KEYS = ['actor', 'action', 'from', 'to'] as const;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

export function readAuditSearch(search: Record<string, unknown>): AuditSearch {
  const found: AuditSearch = {};
  for (const key of KEYS) {
    const text = search[key];
    if (typeof text !== 'string' || text === '') continue;
    if ((key === 'from' || key === 'to') && !DAY.test(text)) continue;
    found[key] = text;
  }
  return found;
}

export interface AuditQuery {
  actor?: string;
  action?: string;
  since?: string;
  until?: string;
}

/** What the interface is asked: days become moments, and the last day is whole. */
export function queryOf({ actor, action, from, to }: AuditSearch): AuditQuery {
  const start = from === undefined ? NaN : beginOfDay(from);
  const end = to === undefined ? NaN : beginOfDay(to, 1);
  return {
    ...(actor === undefined ? {} : { actor }),
    ...(action === undefined ? {} : { action }),
    ...(Number.isNaN(start) ? {} : { since: new Date(start).toISOString() }),
    ...(Number.isNaN(end) ? {} : { until: new Date(end).toISOString() }),
  };
}
