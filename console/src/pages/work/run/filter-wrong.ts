import { FIELDS, wordsOf } from '../../fleet/routers/search.ts';
import type { SiteNames } from '../../fleet/routers/search.ts';
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
  const written = wordsOf(q);
  for (const { field, value } of written) {
    const wanted = value.toLowerCase();
    if (field === 'state' && wanted !== 'away' && !STATES.includes(wanted.replaceAll(/[- ]/g, '_')))
      return words.filter.noState(value, STATES);
    if (
      field === 'site' &&
      sites &&
      wanted !== 'none' &&
      !sites.has(value) &&
      ![...sites.values()].some((name) => name.toLowerCase() === wanted)
    )
      return words.filter.noSite(value);
  }
  if (found > 0 || written.length === 0) return undefined;
  // An address or a serial number may have a colon, too: only what finds nothing is taken for a field.
  const strange = written.find(({ field, value }) => field === undefined && /^[a-z_]{2,}:/i.test(value));
  if (strange !== undefined) return words.filter.noField(strange.value.split(':')[0]!, FIELDS);
  return hasForeignWord(written) ? listWords.noMatchHow : words.filter.noMatch;
}
