import type { Storage } from '../../platform/storage/db.ts';
import type { SearchPlace } from '../../platform/storage/search.ts';
import { macFragment } from '../devices/service.ts';
import type { StatesService } from '../states/service.ts';
import { chooseMatches } from './choose.ts';
import { placesOf, SELECT_FOUND, selectHits, selectJobs, selectKindOf } from './store.ts';
import { FOUND_KINDS } from './types.ts';
import type { Found, FoundKind, Match } from './types.ts';

/** One screen. Whoever looks for more asks the list of that kind. */
export const MOST_FOUND = 20;

export interface SearchDeps {
  storage: Storage;
  states: Pick<StatesService, 'of'>;
}

/** Finds records of a team by what people know of them: a name, a serial number, an address, the beginning or a part of one. */
export class SearchService {
  readonly #deps: SearchDeps;

  constructor(deps: SearchDeps) {
    this.#deps = deps;
  }

  /** At most {@link MOST_FOUND}: what the text is first, then what begins with it, then what it is a part of. */
  async search(teamId: string, text: string): Promise<Match[]> {
    const matches: Match[] = (await this.#withId(teamId, text)).map((found) => this.#match(found, 'whole'));
    for (const place of placesOf(text)) {
      if (matches.length >= MOST_FOUND) break;
      const known = new Set(matches.map(keyOf));
      const found: Found[][] = [];
      for (const kind of FOUND_KINDS)
        found.push(
          (await this.#ofKind(teamId, kind, { text, place, limit: MOST_FOUND + known.size })).filter((one) => !known.has(keyOf(one))),
        );
      matches.push(...chooseMatches(found, MOST_FOUND - matches.length).map((one) => this.#match(one, place)));
    }
    return matches;
  }

  async #withId(teamId: string, text: string): Promise<Found[]> {
    if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return [];
    const { db } = this.#deps.storage;
    const id = text.toLowerCase();
    const kind = await selectKindOf(db, teamId, id);
    return kind === undefined ? selectJobs(db, teamId, { id }) : SELECT_FOUND[kind](db, teamId, [id]);
  }

  async #ofKind(
    teamId: string,
    kind: FoundKind,
    { text, place, limit }: { text: string; place: SearchPlace; limit: number },
  ): Promise<Found[]> {
    const { storage } = this.#deps;
    if (kind === 'job') return place === 'anywhere' ? [] : selectJobs(storage.db, teamId, { text, place, limit });
    const texts = kind === 'device' ? [...new Set([text, macFragment(text) ?? text])] : [text];
    const ids = await selectHits(storage, { teamId, kind, texts, place, limit });
    if (ids.length === 0) return [];
    const records = new Map((await SELECT_FOUND[kind](storage.db, teamId, ids)).map((record) => [record.recordId, record]));
    const inOrder = ids.flatMap((id) => records.get(id) ?? []);
    // A device may be known at several sites.
    return [...new Map(inOrder.toReversed().map((found) => [found.id, found])).values()].toReversed();
  }

  #match(found: Found, place: SearchPlace): Match {
    return { ...found, place, state: found.kind === 'router' ? (this.#deps.states.of(found.id) ?? null) : null };
  }
}

function keyOf({ kind, id }: Found): string {
  return `${kind} ${id}`;
}
