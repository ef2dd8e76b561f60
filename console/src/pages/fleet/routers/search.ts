import type { Router } from '../../../../../client/browser.ts';
import { compareTexts, ranksOf } from '../../../data/ranks.ts';
import { filterWords, quoted } from '../../../parts/filter-words.ts';
import type { FilterWord } from '../../../parts/filter-words.ts';
import { compareVersions, matchesVersion } from './versions.ts';

/** What the address of the list holds: reloading it, or a colleague's copy, gives the same view. */
export interface RoutersSearch {
  /** Words of the filter: `state:agent_away core`. */
  q?: string;
  sort?: SortKey;
  /** Columns besides state and identity, with commas between them; all when missing. */
  cols?: string | undefined;
  /** Rows of two heights' room. */
  rows?: 'tall' | undefined;
}

export const SORTS = ['state', 'identity', 'site', 'model', 'version', 'address', 'agent', 'since'] as const;
export type SortKey = (typeof SORTS)[number];

export function readSearch(search: Record<string, unknown>): RoutersSearch {
  const { q, sort, cols, rows } = search;
  return {
    ...(typeof q === 'string' && q !== '' ? { q } : {}),
    ...(SORTS.includes(sort as SortKey) ? { sort: sort as SortKey } : {}),
    ...(typeof cols === 'string' && /^[a-z,]*$/.test(cols) ? { cols } : {}),
    ...(rows === 'tall' ? { rows } : {}),
  };
}

export const FIELDS = ['state', 'site', 'agent', 'model', 'version'] as const;
export type Field = (typeof FIELDS)[number];

/** One word of the filter. A word without a field is looked for in the texts of a router. */
export type Word = FilterWord<Field>;

export function wordsOf(q: string): Word[] {
  return filterWords(q, FIELDS);
}

type Test = (router: Router) => boolean;
/** Names of sites by id. */
export type SiteNames = ReadonlyMap<string, string>;

/**
 * The filter that the words make. Words of one field are alternatives, but several comparisons of the version (`version:>7.10 version:<7.15`) all
 * have to hold; different fields all have to match, and so does each word that leaves something out.
 */
export function filterOf(q: string, sites: SiteNames): Test {
  const tests = new Map<string, Test[]>();
  for (const word of wordsOf(q)) {
    const test = word.field === undefined ? containing(word.value, sites) : comparing(word.field, word.value, sites);
    const isAlone = word.isNot || word.field === undefined || (word.field === 'version' && /^[<>]/.test(word.value));
    const key = isAlone ? word.text : word.field!;
    tests.set(key, [...(tests.get(key) ?? []), word.isNot ? (router) => !test(router) : test]);
  }
  const all = [...tests.values()];
  return (router) => all.every((any) => any.some((test) => test(router)));
}

function comparing(field: Field, value: string, sites: SiteNames): Test {
  const wanted = value.toLowerCase();
  switch (field) {
    case 'state': {
      const state = wanted === 'away' ? 'agent_away' : wanted.replaceAll(/[- ]/g, '_');
      return (router) => router.state === state;
    }
    case 'model':
      return ({ model, board_name: board }) => [model, board].some((name) => (name ?? '').toLowerCase().startsWith(wanted));
    case 'version':
      return ({ software_version: version }) => matchesVersion(version, value);
    case 'agent':
      return ({ agent_name: name, agent_id: id }) => (name ?? '').toLowerCase() === wanted || id === wanted;
    case 'site':
      if (wanted === 'none') return ({ site_id: id }) => id === null;
      return ({ site_id: id }) => id !== null && (id === wanted || (sites.get(id) ?? '').toLowerCase() === wanted);
  }
}

function containing(word: string, sites: SiteNames): Test {
  const wanted = word.toLowerCase();
  return ({ identity, serial_number: serial, model, board_name: board, agent_name: agent, last_seen_from: from, site_id: site }) =>
    [identity, serial, model, board, agent, from, sites.get(site ?? '')].some((text) => text?.toLowerCase().includes(wanted));
}

/** A word for the filter: quoted when its value has spaces. */
export function wordFor(field: Field, value: string): string {
  return `${field}:${quoted(value)}`;
}

/** The word for the routers of a site. By its id when its name would mean routers without a site, or cannot be quoted. */
export function wordForSite(site: { id: string; name: string }): string {
  return wordFor('site', /^none$|"/i.test(site.name) ? site.id : site.name);
}

const COMPARED: Record<string, string> = { '<': 'older than', '<=': 'at most', '>': 'newer than', '>=': 'at least', '=': 'exactly' };

/** A word of the filter for people: `RouterOS older than 7.19`, `site is not hq`. */
export function sayWord({ field, value, isNot }: Word, sites: SiteNames): { subject: string; said: string } {
  const not = isNot ? 'not ' : '';
  if (field === undefined) return { subject: 'text', said: `${not}${value}` };
  if (field !== 'version') {
    const said = (field === 'site' && sites.get(value)) || value;
    return { subject: field, said: isNot ? `is not ${said}` : said };
  }
  const [, sign, version] = /^([<>]=?|=)?(.*)$/.exec(value)!;
  return { subject: 'RouterOS', said: `${not}${sign === undefined ? version : `${COMPARED[sign]} ${version}`}` };
}

/** Trouble first. */
const RANK = { agent_away: 0, not_answering: 1, never_seen: 2, answering: 3 } as const;

type Compare = (one: Router, other: Router) => number;
const compareNames: Compare = (one, other) => compareTexts(one.identity, other.identity);

/** Sorts routers in place. @param byName the order of identities; a list of thousands has it at hand (`RouterStore.byName`) */
export function inOrder(routers: Router[], sort: SortKey, sites: SiteNames, byName: Compare = compareNames): Router[] {
  const text = (read: (router: Router) => string | null | undefined, compare = compareTexts): Compare => {
    const ranks = ranksOf(
      routers.map((router) => read(router) ?? ''),
      compare,
    );
    const rank = (router: Router): number => ranks.get(read(router) ?? '')!;
    return (one, other) => rank(one) - rank(other) || byName(one, other);
  };
  const since: Compare = (one, other) => compared(one.state_since, other.state_since);
  const orders: Record<SortKey, () => Compare> = {
    state: () => (one, other) =>
      RANK[one.state ?? 'never_seen'] - RANK[other.state ?? 'never_seen'] || since(one, other) || byName(one, other),
    identity: () => byName,
    site: () => text((router) => sites.get(router.site_id ?? '')),
    model: () => text((router) => router.model ?? router.board_name),
    version: () => text((router) => router.software_version, compareVersions),
    address: () => text((router) => router.last_seen_from),
    agent: () => text((router) => router.agent_name),
    since: () => (one, other) => since(one, other) || byName(one, other),
  };
  return routers.sort(orders[sort]());
}

/** ISO moments compare as texts, and without the cost of a locale. */
function compared(one: string | null, other: string | null): number {
  const [a, b] = [one ?? '', other ?? ''];
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
