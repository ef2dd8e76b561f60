import type { HistoryItem } from '../../../../../client/browser.ts';
import type { Lane, Mark } from '../../../rails/lanes.tsx';
import type { Deed } from '../../../rails/reasons.ts';

const NAMES = { fault: 'Faults', job: 'Jobs', forward: 'Forwards', terminal: 'Terminals', backup: 'Backups' } as const;
type LaneKind = keyof typeof NAMES;

/** What was found and done, as lanes below the rails: boxes for what lasts, ticks for moments. */
export function lanesOf(routerId: string, deeds: readonly HistoryItem[], now: number): Lane[] {
  return Object.entries(NAMES).map(([kind, name]) => ({
    name,
    marks: deeds.filter((item) => item.kind === kind).map((item) => markOf(routerId, item, now)),
  }));
}

export function deedsOf(items: readonly HistoryItem[]): Deed[] {
  return items.flatMap(({ kind, title, at, until }) =>
    kind === 'job' ? [{ title, made: Date.parse(at), ended: until === null ? null : Date.parse(until) }] : [],
  );
}

/** Where the application shows an item. */
export function hrefOf(routerId: string, { kind, id }: Pick<HistoryItem, 'kind' | 'id'>): string {
  const base = `/routers/${routerId}`;
  switch (kind) {
    case 'job':
      return `/jobs/${routerId}/${id}`;
    case 'forward':
      return `/forwards/${routerId}/${id}`;
    case 'terminal':
      return `/terminals/${id}`;
    case 'fault':
      return `${base}/faults`;
    case 'backup':
      return `${base}/backups`;
    case 'session':
    case 'state':
    case 'unknown':
      return `${base}/tunnel`;
    case 'action':
      return base;
  }
}

function markOf(routerId: string, item: HistoryItem, now: number): Mark {
  const { id, kind, status, title, at, until } = item;
  const lasts = kind === 'fault' || kind === 'forward' || kind === 'terminal';
  const isOpen = lasts && until === null;
  return {
    id,
    at: Date.parse(at),
    until: lasts ? (until === null ? now : Date.parse(until)) : undefined,
    text: `${textOf(kind as LaneKind, title)}${isOpen ? ', open' : ''}`,
    isBad: kind === 'fault' ? status !== 'info' : kind === 'job' && status === 'failed',
    href: hrefOf(routerId, item),
  };
}

/** Long enough to be recognised. */
const MOST_LETTERS = 34;

function textOf(kind: LaneKind, title: string): string {
  const text = kind === 'forward' ? title.split(' for ')[0]! : title;
  return text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS - 1)}…` : text;
}
