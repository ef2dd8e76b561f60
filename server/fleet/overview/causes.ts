import type { RouterState } from '../states/types.ts';
import type { CommonCause } from './types.ts';

/** Groups shown of each kind, the largest first. */
const SHOWN = 5;
/** A group has at least two routers. */
const LEAST = 2;

export interface KnownRouter {
  state: RouterState;
  /** Null when it has none, or when it is unknown. */
  shares: Record<CommonCause['kind'], string | null>;
}

export type UnnamedCause = Omit<CommonCause, 'name'>;

export const CAUSE_KINDS: readonly CommonCause['kind'][] = ['agent', 'site', 'address', 'version'];

/** Common properties of the routers that do not answer: of one kind, the values that most of them share. Pure. */
export function commonCauses(routers: readonly KnownRouter[], kind: CommonCause['kind']): UnnamedCause[] {
  const byValue = Map.groupBy(
    routers.filter(({ shares }) => shares[kind] !== null),
    ({ shares }) => shares[kind]!,
  );
  return [...byValue]
    .map(([value, all]) => ({ value, all, away: all.filter(isAway) }))
    .filter(({ away }) => away.length >= LEAST)
    .toSorted((one, other) => other.away.length - one.away.length || one.all.length - other.all.length)
    .slice(0, SHOWN)
    .map(({ value, all, away }) => {
      const since = away.reduce((earliest, { state }) => Math.min(earliest, state.since), Number.POSITIVE_INFINITY);
      return { kind, value, away: away.length, of: all.length, since };
    });
}

function isAway({ state: { state } }: KnownRouter): boolean {
  return state === 'agent_away' || state === 'not_answering';
}
