import { DELIVERY_FAILING } from '../match.ts';
import type { ThreadRow } from '../types.ts';
import { holdOf } from './moment.ts';
import type { Moment } from './moment.ts';

/** What decides what the due threads of one group tell. Pure. */

/** What is in a thread that stands for others. */
export interface Children {
  open: number;
  all: number;
  severity: string;
  /** When threads in it last opened or ended, newest first. Only those that decide whether one that comes and goes is calm. */
  moves: readonly number[];
}

export interface GroupState extends Moment {
  teamId: string;
  groupId: string;
  /** Due. Of those that another stands for, only the ones that stand for others themselves. */
  due: readonly ThreadRow[];
  /** All threads of the group that stand for others, also ended ones that can open again, and the agents of the due ones. */
  parents: readonly ThreadRow[];
  /** For those of them that are due, or may be told anew: threads in them. */
  children: ReadonlyMap<string, Children>;
  /** Routers of a place that the group was told of one by one lately, and that are open, by the key of the thread that would stand for them. */
  toldAlone: ReadonlyMap<string, number>;
  /** Due threads that a silence covers, with its end. */
  silenced: ReadonlyMap<string, number>;
  /** Agents of the team that are not revoked. */
  agents: number;
  newId: () => string;
}

/** Of one thread. */
export function momentFor({ now, hold, chain, silenced }: GroupState, { id, kind }: ThreadRow): Moment {
  // It concerns administrators, and the mute the group.
  if (kind === DELIVERY_FAILING) return { now, chain, hold: null };
  return { now, chain, hold: holdOf(hold, silenced.get(id)) };
}
