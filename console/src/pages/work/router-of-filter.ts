import type { Router } from '../../../../client/browser.ts';
import type { FilterWord } from '../../parts/filter-words.ts';
import { routerNamed } from './run/named.ts';

/** The router that a filter names, or a sentence about what cannot be read. */
export interface RouterOfFilter {
  routerId?: string;
  wrong?: string;
}

/**
 * The one router that these words name. Words without quotes may be one name with spaces together: `router:core 1`, `Main street gw`.
 * @param words those that name routers
 * @param what the list shows: `forwards`
 */
export function routerOfFilter(words: readonly FilterWord<string>[], routers: readonly Router[], what: string): RouterOfFilter {
  const isQuoted = ({ text }: FilterWord<string>): boolean => text.includes('"');
  const values = (some: readonly FilterWord<string>[]): string[] => some.map(({ value, isNot }) => (isNot ? `-${value}` : value));
  const loose = values(words.filter((word) => !isQuoted(word)));
  const together = loose.join(' ');
  const names = [...values(words.filter(isQuoted)), ...(routerNamed(together, routers) ? [together] : loose)];
  const ids = new Set<string>();
  for (const name of names) {
    const router = routerNamed(name, routers);
    if (!router) return { wrong: `No router is called ${name}.` };
    ids.add(router.id);
  }
  if (ids.size > 1) return { wrong: `The list shows the ${what} of one router, or of all.` };
  const [routerId] = ids;
  return routerId === undefined ? {} : { routerId };
}
