/** The verdict on one reading. `between`: neither opens nor resolves a fault. */
export type Verdict = 'bad' | 'good' | 'between';

/** How many consecutive readings change the state. */
export interface Patience {
  toOpen: number;
  toResolve: number;
}

/** Hysteresis: a fault opens and resolves only after several consecutive readings with the same verdict. */
export interface Gate {
  open: boolean;
  /** Consecutive readings that indicate the other state. */
  streak: number;
  /** Time of the first of them. */
  since: number;
}

export const CLOSED_GATE: Gate = { open: false, streak: 0, since: 0 };
export const OPEN_GATE: Gate = { open: true, streak: 0, since: 0 };

export interface Step {
  gate: Gate;
  /** Time of the first reading of the new state; undefined when the state does not change. */
  changedAt: number | undefined;
}

/** Processes one reading. */
export function step(gate: Gate, verdict: Verdict, at: number, patience: Patience): Step {
  const opposite: Verdict = gate.open ? 'good' : 'bad';
  if (verdict !== opposite) return { gate: { open: gate.open, streak: 0, since: at }, changedAt: undefined };
  const since = gate.streak === 0 ? at : gate.since;
  const streak = gate.streak + 1;
  if (streak < (gate.open ? patience.toResolve : patience.toOpen))
    return { gate: { open: gate.open, streak, since }, changedAt: undefined };
  return { gate: { open: !gate.open, streak: 0, since: at }, changedAt: since };
}
