import type { Selectable } from 'kysely';
import type { EndedBy } from '../../platform/core/tunnel-record.ts';
import type { AgentSessionsTable, ServerRunsTable } from '../../platform/storage/schema-history.ts';

export type SessionRow = Selectable<AgentSessionsTable>;
export type ServerRun = Selectable<ServerRunsTable>;

/** How the previous run of the control plane ended. */
export interface FormerRun {
  /** Milliseconds since 1970: its stop, or the last sign of life of one that was killed. */
  endedAt: number;
  endedBy: Extract<EndedBy, 'server_stopped' | 'unknown'>;
}

/** The runs before this one. */
export interface KnownRuns {
  /** Undefined for the first one. Where several serve the database, the run that ended last or goes on, of any of them. */
  readonly former: FormerRun | undefined;
  /** The run of this control plane in `server_runs`; undefined before its start. It continues, whatever its row says. */
  readonly currentId: string | undefined;
}

/** An agent's line to the control plane, as of now. */
export interface AgentLine {
  /** Of its tunnel, or of its last one; null before the first. */
  address: string | null;
  /** Of its tunnel that is ready; null without one. */
  epoch: number | null;
  /** Since when it is connected or away, milliseconds since 1970; null before its first tunnel. */
  since: number | null;
  /** The last measured one of its tunnel. */
  roundTripMs: number | null;
  routerCount: number;
  /** Tunnels opened in the last 24 hours. */
  sessions24h: number;
  /** How the last one ended that has ended. */
  lastEndedBy: EndedBy | null;
}

/** An agent's tunnel became ready, or a ready one ended. */
export interface LineChange {
  kind: 'online' | 'offline';
  teamId: string;
  agentId: string;
  address: string;
  epoch: number | null;
  /** Null for `online`. */
  endedBy: EndedBy | null;
  /** Milliseconds since 1970. */
  since: number;
}

/** A ping of the control plane was answered, or is lost. */
export interface Ping {
  agentId: string;
  teamId: string;
  /** Milliseconds; null for one without an answer. */
  roundTripMs: number | null;
}
