/** The filter of the audit log, as in its address. */
export interface AuditSearch {
  /** Id of a person or key. */
  actor?: string;
  /** Beginning of the action. */
  action?: string;
  /** First and last day, `2031-05-01`, of the reader's time zone. */
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
  const start = from === undefined ? NaN : midnight(from, 0);
  const end = to === undefined ? NaN : midnight(to, 1);
  return {
    ...(actor === undefined ? {} : { actor }),
    ...(action === undefined ? {} : { action }),
    ...(Number.isNaN(start) ? {} : { since: new Date(start).toISOString() }),
    ...(Number.isNaN(end) ? {} : { until: new Date(end).toISOString() }),
  };
}

/** Begin of a day of the local time zone, some days later. NaN for a day that no calendar has. */
function midnight(day: string, later: number): number {
  const [year = NaN, month = NaN, date = NaN] = day.split('-').map(Number);
  return new Date(year, month - 1, date + later).getTime();
}
