import type { ExecutionKind } from '../../simulator/executions.ts';

/** One real run of a job's script on a router. */
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

/** One load of a job's restore point. */
export interface Restore {
  jobId: string;
  /** Its script had begun before. A guard that fires before the run undoes nothing. */
  hadRun: boolean;
}

/** What really happened on the routers. */
export interface FleetRecord {
  runs: Run[];
  restores: Restore[];
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
