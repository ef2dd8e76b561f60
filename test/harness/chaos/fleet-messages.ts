import type { ExecutionKind } from '../../simulator/executions.ts';

/** One time that a router really ran the script of a job. */
export interface Run {
  jobId: string;
  router: number;
  kind: ExecutionKind;
  startedAt: number;
  endedAt: number | undefined;
  error: string | undefined;
  /** Undefined while it runs. */
  outcome: 'ok' | 'error' | 'interrupted' | undefined;
}

/** What really happened on the routers. */
export interface FleetRecord {
  runs: Run[];
  /** Jobs whose restore point was loaded. */
  undone: string[];
  /** Scheduler entries of guards that are armed now, and services that are switched off. */
  leftovers: string[];
}

export interface RouterPorts {
  api: number;
  ssh: number;
}

export type FleetRequest =
  | { method: 'start' }
  | { method: 'record' }
  | { method: 'reset'; router: number }
  | { method: 'reboot'; router: number; downMs: number }
  | { method: 'refuse'; router: number; on: boolean }
  | { method: 'setClock'; router: number; byMs: number };
