import type { Catalogue } from './catalogue.ts';
import { CATALOGUES } from './catalogues.ts';
import { cleanDetail, cleanName } from './clean.ts';
import { causeOf, placeOf } from './story.ts';
import { momentOf } from './times.ts';
import type { Zones } from './times.ts';
import { MAX_ITEMS } from './types.ts';
import type { Text, ThreadItem, ThreadSubject, ThreadView } from './types.ts';

/** The list below the sentences. Times are those of the site: the first sentence has named the reader's. */

/** Subjects whose items are news even when there is only one. */
const ALWAYS_LISTED: ReadonlySet<ThreadSubject['type']> = new Set([
  'storm',
  'several',
  'digest',
  'site',
  'agent_routers',
  'campaign',
  'jobs',
]);

export interface List {
  rows: string[];
  /** Records in all; those without a row are "and 802 more". */
  count: number;
}

/** One line for each item, at most {@link MAX_ITEMS}. @param say how a thread is told in one line */
export function listOf(view: ThreadView, words: Catalogue, zones: Zones, say: (thread: ThreadView) => string): List {
  const { items, count } = itemsOf(view);
  if (count <= 1 && !ALWAYS_LISTED.has(view.subject.type)) return { rows: [], count: 0 };
  const rows = items.slice(0, MAX_ITEMS).map((item) => (item.view === undefined ? rowOf(item, view, words, zones) : say(item.view)));
  return { rows, count: rows.length === 0 ? 0 : Math.max(count, rows.length) };
}

/** Once an agent is back, the routers that came back with it are no news: only those are listed that did not. */
function itemsOf({ subject, items, itemCount, endedAt, stillOpen }: ThreadView): { items: readonly ThreadItem[]; count: number } {
  if (subject.type !== 'agent' || endedAt === null) return { items, count: itemCount };
  return { items: items.filter(({ resolvedAt }) => resolvedAt === null).slice(0, stillOpen), count: stillOpen };
}

function rowOf(item: ThreadItem, { subject, firstAt }: ThreadView, words: Catalogue, zones: Zones): string {
  const place = placeOfItem(item, 'site' in subject ? subject.site?.id : undefined);
  const told = 'fault' in subject ? subject.fault : undefined;
  const parts = [
    item.fault !== undefined && item.fault !== told && subject.type !== 'agent' ? words.faults[item.fault] : '',
    item.routers === undefined ? '' : words.routers(item.routers),
    isOfAgent(item) ? '' : cleanDetail(causeOf({ detail: item.text, causes: item.causes }, words)),
    timeOf(item, firstAt, words, zones),
  ].filter((part) => part !== '');
  // A record without a name has its time, at least.
  return [place, parts.join(', ')].filter((part) => part !== '').join(': ') || words.since(momentOf(item.openedAt, zones));
}

/** It stands for routers of an agent that have no site. */
function isOfAgent({ routers, site }: ThreadItem): boolean {
  return routers !== undefined && site === null;
}

/** @param toldSite the site that the message is about: it need not be repeated */
function placeOfItem(item: ThreadItem, toldSite: string | undefined): string {
  const { router, site, text } = item;
  if (isOfAgent(item)) return cleanName(text);
  if (router !== null) return placeOf(router, site?.id === toldSite ? null : site);
  return site === null ? '' : cleanName(site.name);
}

/** @param told when the thread began: the first sentence says it, and it need not be repeated */
function timeOf({ fault, openedAt, resolvedAt }: ThreadItem, told: number, words: Catalogue, zones: Zones): string {
  const from = { ...momentOf(openedAt, zones), elsewhere: null };
  if (fault === 'rebooted') return words.at(from);
  if (resolvedAt === null) return from.text === momentOf(told, zones).text ? '' : words.since(from);
  const to = momentOf(resolvedAt, zones).text;
  return to === from.text ? words.at(from) : `${from.text}–${to}`;
}

/**
 * As many rows as fit, the rest as one more row: "and 802 more". The numbers stand above the list, so nothing is refused for its length.
 * @param budget what all rows may measure together
 * @param measure what one row takes, with its separator
 */
export function fitRows(text: Text, budget: number, measure: (row: string) => number): string[] {
  const words = CATALOGUES[text.locale];
  let rows = [...text.rows];
  for (;;) {
    const hidden = text.rowCount - rows.length;
    const all = hidden > 0 ? [...rows, words.more(hidden)] : rows;
    if (all.reduce((sum, row) => sum + measure(row), 0) <= budget) return all;
    if (rows.length === 0) return [];
    rows = rows.slice(0, -1);
  }
}
