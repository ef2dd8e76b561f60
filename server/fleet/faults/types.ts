import type { Selectable } from 'kysely';
import type { Cause } from '../../platform/notices/causes.ts';
import type { FaultsTable } from '../../platform/storage/schema-routers.ts';

export type FaultRecord = Selectable<FaultsTable>;

export type Severity = 'critical' | 'warning' | 'info';

/** The types of faults and their severity. A router has at most one open fault of each type. */
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

/** The text of a fault: the fault itself and the observations behind it. */
export interface Finding {
  message: string;
  causes: readonly Cause[];
}

/** A change of a router's fault. Times are those of the event, which may be detected later. */
export type FaultChange =
  /** `isTold`: whoever says it does not know whether it is open already; then it is only described anew. */
  | { kind: 'open'; type: FaultType; at: number; finding: Finding; isTold?: boolean }
  /** Still open, with new details. */
  | { kind: 'describe'; type: FaultType; finding: Finding }
  | { kind: 'resolve'; type: FaultType; at: number };

export interface FaultRules {
  /** How often agents report, milliseconds. */
  heartbeatMs: number;
  /** A router or agent without contact for this long is offline. */
  offlineAfterMs: number;
}

/** A fault that was opened or resolved, for notifications. */
export interface FaultEvent {
  kind: 'opened' | 'reopened' | 'repeated' | 'resolved';
  fault: FaultRecord;
  /** When it began or ended this time: a record that was reopened keeps its first beginning. Milliseconds since 1970. */
  at: number;
}
