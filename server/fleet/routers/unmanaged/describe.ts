import type { UnmanagedRouter } from '../../../../protocol/index.ts';
import type { EntryReports } from '../entries/reports.ts';
import type { AgentEntry } from '../types.ts';
import type { ClaimOfAgent } from '../moves/types.ts';

/** Names of agents and routers may have 255 characters each; the protocol takes 1000 in all. */
const REASON_CHARS = 1000;

/** The entries that an agent does not manage, for the output of its own check. */
export function describeUnmanaged(
  claims: readonly ClaimOfAgent[],
  entries: readonly AgentEntry[],
  reports: EntryReports | undefined,
): UnmanagedRouter[] {
  return [...claims.map(describeClaim), ...entries.flatMap((entry) => describeDuplicate(entry, reports))];
}

function describeClaim({
  agent_router: name,
  hardware_id: hardwareId,
  owner_name: owner,
  owner_router: ownName,
  state,
}: ClaimOfAgent): UnmanagedRouter {
  const holder = `agent "${owner}" has this router${ownName === '' ? '' : ` as "${ownName}"`}`;
  const reason =
    state === 'refused'
      ? `an administrator refused the move to this agent; ${holder}. The move can still be approved: signalbox router-moves`
      : `waits for approval: ${holder}. An administrator approves or refuses the move: signalbox router-moves, or GET /api/router-moves`;
  return { name, hardware_id: hardwareId, state: state === 'refused' ? 'refused' : 'waiting', reason: reason.slice(0, REASON_CHARS) };
}

function describeDuplicate({ name, duplicateOf }: AgentEntry, reports: EntryReports | undefined): UnmanagedRouter[] {
  const inventory = reports?.duplicateAt(name)?.inventory;
  if (!duplicateOf || !inventory) return [];
  const other = `"${duplicateOf.name}"${duplicateOf.host === null ? '' : ` (${duplicateOf.host})`}`;
  const reason = `the entry ${other} reports the same serial number and has the router; this one is not managed`;
  return [{ name, hardware_id: inventory.facts.hardware_id, state: 'duplicate', reason: reason.slice(0, REASON_CHARS) }];
}
