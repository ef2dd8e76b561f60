/** What one reading says. `between`: too little to be a fault, too much to be well. */
export type Verdict = 'bad' | 'good' | 'between';

/** How many readings in a row it takes. */
export interface Patience {
  toOpen: number;
  toResolve: number;
}

/** Hysteresis: a fault opens and resolves only after several readings that say the same. */
export interface Gate {
  open: boolean;
  /** Readings in a row that speak for the other state. */
  streak: number;
  /** The first of them. */
  since: number;
}

export const CLOSED_GATE: Gate = { open: false, streak: 0, since: 0 };
export const OPEN_GATE: Gate = { open: true, streak: 0, since: 0 };

export interface Step {
  gate: Gate;
  /** The moment of the first reading that said so; undefined when the state stays. */
  changedAt: number | undefined;
}

/** Takes one reading in. */
export function step(gate: Gate, verdict: Verdict, at: number, patience: Patience): Step {
  const opposite: Verdict = gate.open ? 'good' : 'bad';
  if (verdict !== opposite) return { gate: { open: gate.open, streak: 0, since: at }, changedAt: undefined };
  const since = gate.streak === 0 ? at : gate.since;
  const streak = gate.streak + 1;
  if (streak < (gate.open ? patience.toResolve : patience.toOpen))
    return { gate: { open: gate.open, streak, since }, changedAt: undefined };
  return { gate: { open: !gate.open, streak: 0, since: at }, changedAt: since };
}
