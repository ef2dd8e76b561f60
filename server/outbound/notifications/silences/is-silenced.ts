import type { Silence } from './types.ts';

/** Where a fact has happened. */
export interface FactPlace {
  routerId: string | null;
  siteId: string | null;
  /** For a fact of an agent: where its routers are. */
  behind?: readonly { routerId: string; siteId: string | null }[];
}

/**
 * Until when the team's silences cover a fact; null when none does. An agent is silent with its site, and when each of its routers is: it has
 * nothing else to tell of. Pure. @param silences of the fact's team @param now milliseconds since 1970
 */
export function silencedUntil(silences: readonly Silence[], { behind = [], ...place }: FactPlace, now: number): number | null {
  const own = longest(silences, place, now);
  if (behind.length === 0) return own;
  const ends = behind.map((router) => longest(silences, router, now));
  const all = ends.some((end) => end === null) ? null : Math.min(...ends.map((end) => end!));
  return own === null || all === null ? (own ?? all) : Math.max(own, all);
}

function longest(silences: readonly Silence[], { routerId, siteId }: Omit<FactPlace, 'behind'>, now: number): number | null {
  const covering = silences.filter((silence) => {
    if (now < silence.from || now >= silence.until) return false;
    if (silence.routerId !== null) return silence.routerId === routerId;
    return silence.siteId === null || silence.siteId === siteId;
  });
  return covering.length === 0 ? null : Math.max(...covering.map(({ until }) => until));
}

export function isSilenced(silences: readonly Silence[], place: FactPlace, now: number): boolean {
  return silencedUntil(silences, place, now) !== null;
}
