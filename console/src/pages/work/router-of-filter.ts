import type { Router } from '../../../../client/browser.ts';
import type { FilterWord } from '../../parts/filter-words.ts';
import { routerNamed } from './run/named.ts';
import { listOf } from './words.ts';

/** The router that a filter names, or a sentence about what cannot be read. */
export interface RouterOfFilter {
  routerId?: string;
  wrong?: string;
}

interface Filtered {
  /** What the list shows: `forwards`. */
  what: string;
  /** The fields that its filter has. */
  fields: readonly string[];
}

/**
 * The one router that these words name, whole or by a part that no other name has. Words without quotes may be one name with spaces together:
 * `router:core 1`, `Main street gw`.
 * @param words those that name routers
 */
export function routerOfFilter(
  words: readonly FilterWord<string>[],
  routers: readonly Router[],
  { what, fields }: Filtered,
): RouterOfFilter {
  const isQuoted = ({ text }: FilterWord<string>): boolean => text.includes('"');
  const values = (some: readonly FilterWord<string>[]): string[] => some.map(({ value, isNot }) => (isNot ? `-${value}` : value));
  const loose = values(words.filter((word) => !isQuoted(word)));
  const together = loose.join(' ');
  const names = [...values(words.filter(isQuoted)), ...(routerNamed(together, routers) ? [together] : loose)];
  const ids = new Set<string>();
  for (const name of names) {
    const found = routersFor(name, routers);
    if (found.length !== 1) return { wrong: wrongName(name, found.length, fields) };
    ids.add(found[0]!.id);
  }
  if (ids.size > 1) return { wrong: `The list shows the ${what} of one router, or of all.` };
  const [routerId] = ids;
  return routerId === undefined ? {} : { routerId };
}

/** The router of this name, or else those with it in their names. What begins with a minus sign is meant to leave something out. */
function routersFor(name: string, routers: readonly Router[]): readonly Router[] {
  const named = routerNamed(name, routers);
  if (named) return [named];
  const part = name.toLowerCase();
  return part.startsWith('-') ? [] : routers.filter(({ identity }) => identity.toLowerCase().includes(part));
}

function wrongName(name: string, found: number, fields: readonly string[]): string {
  if (found > 0) return `${found} routers have ${name} in their names. Write more of one.`;
  // A name may have a colon, too: only what no router has is taken for a field.
  const field = /^-?([a-z_]{2,})[:<>=]/i.exec(name)?.[1];
  return field === undefined ? `No router is called ${name}.` : `A filter of this list has no field ${field}. It has ${listOf(fields)}.`;
}
