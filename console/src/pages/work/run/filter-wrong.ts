import { FIELDS, wordsOf } from '../../fleet/routers/search.ts';
import type { SiteNames, Word } from '../../fleet/routers/search.ts';
import { words as listWords } from '../../fleet/routers/words.ts';
import { hasForeignWord } from '../../../parts/filter-words.ts';
import { words } from './words.ts';

/** As the interface writes them; people may write `away`, and spaces or hyphens. */
const STATES = ['answering', 'not_answering', 'agent_away', 'never_seen'];

/** Chooses every router. */
export const ALL = '*';

/**
 * Why a filter finds no router, in a sentence; undefined where it finds some, or nothing is written.
 * @param sites undefined: not read yet
 */
export function wrongFilter(q: string, found: number, sites: SiteNames | undefined): string | undefined {
  const wrong = wrongWord(q, sites);
  if (wrong !== undefined) return wrong;
  const written = wordsOf(q);
  if (found > 0 || written.length === 0) return undefined;
  // An address or a serial number may have a colon, too: only what finds nothing is taken for a field.
  return written.map(foreign).find((why) => why !== undefined) ?? words.filter.noMatch;
}

/**
 * Whether a filter may choose routers to work on: one that leaves out what there is not, by a slip, would choose more than was meant.
 * @param sites undefined: not read yet
 */
export function mayChoose(q: string, sites: SiteNames | undefined): boolean {
  const isUnread = sites === undefined && wordsOf(q).some(({ field }) => field === 'site');
  return !isUnread && wrongWord(q, sites) === undefined;
}

function wrongWord(q: string, sites: SiteNames | undefined): string | undefined {
  for (const word of wordsOf(q)) {
    const { field, value, isNot } = word;
    if (field === 'state' && !isState(value)) return words.filter.noState(value, STATES);
    if (field === 'site' && sites && !isSite(value, sites)) return words.filter.noSite(value);
    const why = isNot ? foreign(word) : undefined;
    if (why !== undefined) return why;
  }
  return undefined;
}

function isState(value: string): boolean {
  const wanted = value.toLowerCase();
  return wanted === 'away' || STATES.includes(wanted.replaceAll(/[- ]/g, '_'));
}

function isSite(value: string, sites: SiteNames): boolean {
  const wanted = value.toLowerCase();
  return wanted === 'none' || sites.has(value) || [...sites.values()].some((name) => name.toLowerCase() === wanted);
}

/** Why a word that is written as in other programs finds nothing; undefined for any other. */
function foreign(word: Word): string | undefined {
  if (!hasForeignWord([word])) return undefined;
  const [, field] = /^([a-z_]{2,}):/i.exec(word.value) ?? [];
  return field === undefined ? listWords.noMatchHow : words.filter.noField(field, FIELDS);
}
