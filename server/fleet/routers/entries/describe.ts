import type { HeardBeat } from '../presence.ts';
import type { AgentEntry } from '../types.ts';
import type { EntryBook } from './book.ts';

interface Said {
  ids: ReadonlyMap<string, string>;
  beats: ReadonlyMap<string, HeardBeat>;
  book: EntryBook | undefined;
}

/** What the agent has said on its present tunnel of each entry that it has named there. */
export function describeEntries({ ids, beats, book }: Said): AgentEntry[] {
  const duplicates = book?.duplicates ?? [];
  const names = new Set([...ids.keys(), ...beats.keys(), ...duplicates.map(({ name }) => name), ...(book?.refused ?? [])]);
  const holders = new Map([...ids].map(([name, routerId]) => [routerId, name]));
  const hostOf = (name: string): string | null => book?.hostOf(name) ?? null;
  const holderFor = (name: string): AgentEntry['duplicateOf'] => {
    const routerId = book?.duplicateAt(name)?.routerId;
    const holder = routerId === undefined ? undefined : holders.get(routerId);
    return routerId === undefined || holder === undefined ? null : { name: holder, host: hostOf(holder), routerId };
  };
  return [...names].map((name) => {
    const beat = beats.get(name);
    const duplicateOf = holderFor(name);
    const reason = beat?.reason ?? book?.refusalAt(name) ?? (duplicateOf ? 'duplicate_serial' : null);
    return { name, host: hostOf(name), routerId: ids.get(name) ?? null, reachable: beat?.reachable ?? false, reason, duplicateOf };
  });
}
