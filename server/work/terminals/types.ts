import type { Selectable } from 'kysely';
import type { TerminalLevel } from '../../../protocol/index.ts';
import type { Principal, Role } from '../../platform/core/principal.ts';
import type { TerminalsTable } from '../../platform/storage/schema-terminals.ts';

export type TerminalRecord = Selectable<TerminalsTable>;

/** Why a terminal ended: `end_reason` in the interface. */
export const TERMINAL_ENDS = [
  'exited',
  'closed',
  'idle',
  'expired',
  'detached',
  'recording_full',
  'router_lost',
  'router_removed',
  'agent_away',
  'agent_stopped',
  'agent_revoked',
  'shell_gone',
  'rights_lost',
  'not_opened',
] as const;
export type TerminalEnd = (typeof TERMINAL_ENDS)[number];

/** Why a terminal is over, and who ended it if a person or program did. */
export interface Ending {
  reason: TerminalEnd;
  message: string;
  by?: Pick<Opener, 'kind' | 'id' | 'source'>;
}

/** The role that each level needs. */
export const ROLE_OF_LEVEL: Record<TerminalLevel, Role> = { read: 'operator', full: 'admin' };

export interface WindowSize {
  cols: number;
  rows: number;
}

export interface NewTerminal extends WindowSize {
  level: TerminalLevel;
  reason: string;
}

/** Who opens a terminal. */
export type Opener = Pick<Principal, 'kind' | 'id' | 'teamId' | 'clientId' | 'signedInAt'> & { source: string };

/** A one-use ticket and how long it is valid, in milliseconds. */
export interface Ticket {
  ticket: string;
  validMs: number;
}

export interface TerminalChange {
  kind: 'opened' | 'ended';
  terminal: TerminalRecord;
}

/** A terminal as the interface shows it. */
export interface TerminalView {
  record: TerminalRecord;
  /** Somebody is attached now. */
  attached: boolean;
  /** The way to the router is broken, and is being restored. */
  away: boolean;
}

/** The right to dial a terminal's channel. */
export interface TerminalGrant {
  terminalId: string;
  teamId: string;
  agentId: string;
}
