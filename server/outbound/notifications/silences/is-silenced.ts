import type { Silence } from './types.ts';

/** Where a fact has happened. An agent's fact has its site and no router. */
export interface FactPlace {
  routerId: string | null;
  siteId: string | null;
}

/** Whether one of the team's silences covers a fact. Pure. @param silences of the fact's team @param now milliseconds since 1970 */
export function isSilenced(silences: readonly Silence[], { routerId, siteId }: FactPlace, now: number): boolean {
  return silences.some((silence) => {
    if (now < silence.from || now >= silence.until) return false;
    if (silence.routerId !== null) return silence.routerId === routerId;
    return silence.siteId === null || silence.siteId === siteId;
  });
}
