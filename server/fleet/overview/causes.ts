import type { RouterState, RouterStateName } from '../states/types.ts';
import type { CommonCause } from './types.ts';

/** Groups shown of each kind, the largest first. */
const SHOWN = 5;
/** A group has at least two routers. */
const LEAST = 2;

/** What routers may have in common; null when one has no value, or when it is unknown. */
export type Shares = Record<CommonCause['kind'], string | null>;

export type UnnamedCause = Omit<CommonCause, 'name'>;

export const CAUSE_KINDS: readonly CommonCause['kind'][] = ['agent', 'site', 'address', 'version'];

/** Finds common properties of routers that do not answer. Keeps one group for each value, not the routers. */
export class CommonCauses {
  readonly #groups: Record<CommonCause['kind'], Map<string, UnnamedCause>> = {
    agent: new Map(),
    site: new Map(),
    address: new Map(),
    version: new Map(),
  };

  /** Also routers that answer: of how many others share the value. */
  add({ state, since }: RouterState, shares: Shares): void {
    const away = isAway(state);
    for (const kind of CAUSE_KINDS) this.#count(kind, shares[kind], away, since);
  }

  #count(kind: CommonCause['kind'], value: string | null, away: boolean, since: number): void {
    if (value === null) return;
    let group = this.#groups[kind].get(value);
    if (!group) {
      group = { kind, value, away: 0, of: 0, since: Number.POSITIVE_INFINITY };
      this.#groups[kind].set(value, group);
    }
    group.of += 1;
    if (!away) return;
    group.away += 1;
    if (since < group.since) group.since = since;
  }

  /** Of each kind the values that most of them share; of equal groups those first of which more is away. */
  largest(): UnnamedCause[] {
    return CAUSE_KINDS.flatMap((kind) =>
      [...this.#groups[kind].values()]
        .filter(({ away }) => away >= LEAST)
        .toSorted((one, other) => other.away - one.away || one.of - other.of || (one.value < other.value ? -1 : 1))
        .slice(0, SHOWN),
    );
  }
}

/** Whether there can be a common cause at all. */
export function hasCommonCause(counts: Record<RouterStateName, number>): boolean {
  return counts.agent_away + counts.not_answering >= LEAST;
}

function isAway(state: RouterStateName): boolean {
  return state === 'agent_away' || state === 'not_answering';
}
