import type { Selectable } from 'kysely';
import type { FaultsTable } from '../../platform/storage/schema-routers.ts';

export type FaultRecord = Selectable<FaultsTable>;

export type Severity = 'critical' | 'warning' | 'info';

/** What can be wrong with a router. A router has at most one open fault of each type. */
export const FAULT_SEVERITY = {
  router_offline: 'critical',
  agent_offline: 'critical',
  wan_down: 'critical',
  temperature: 'critical',
  voltage: 'warning',
  power_supply_failed: 'warning',
  fan_failed: 'warning',
  hardware_failed: 'warning',
  poe_out_failed: 'warning',
  disk_failing: 'warning',
  weak_signal: 'warning',
  high_cpu: 'warning',
  disk_nearly_full: 'warning',
  clock_wrong: 'warning',
  move_requested: 'warning',
  duplicate_serial: 'warning',
  devices_truncated: 'info',
  rebooted: 'info',
} as const satisfies Record<string, Severity>;

export type FaultType = keyof typeof FAULT_SEVERITY;

/** The fault in words: what is the matter, and what was seen of it. */
export interface Finding {
  message: string;
  cause: string;
}

/** What becomes of a router's fault of one type. Moments are those of the facts, which are noticed later. */
export type FaultChange =
  | { kind: 'open'; type: FaultType; at: number; finding: Finding }
  /** Still open, but other details. */
  | { kind: 'describe'; type: FaultType; finding: Finding }
  | { kind: 'resolve'; type: FaultType; at: number };

export interface FaultRules {
  /** How often agents report, milliseconds. */
  heartbeatMs: number;
  /** A router or agent that is away for this long is offline. */
  offlineAfterMs: number;
}

/** What became of a fault's record; for whoever tells people. */
export interface FaultEvent {
  kind: 'opened' | 'reopened' | 'repeated' | 'resolved';
  fault: FaultRecord;
}
