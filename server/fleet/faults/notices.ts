import { parseCauses } from '../../platform/notices/causes.ts';
import type { NewNotice } from '../../platform/notices/types.ts';
import { FAULT_SEVERITY } from './types.ts';
import type { FaultEvent } from './types.ts';

/** What people are told of faults. Pure. */

/**
 * The notice of a fault that was opened or resolved; undefined for one that says nothing new. Faults of agents are told once for the whole
 * agent: {@link agentNotice}.
 */
export function faultNotice({ kind, fault, at }: FaultEvent): NewNotice | undefined {
  if (kind === 'repeated' || fault.type === 'agent_offline') return undefined;
  const isResolved = kind === 'resolved';
  // A reboot is over when it is seen.
  const isMoment = fault.type === 'rebooted';
  if (isMoment && isResolved) return undefined;
  return {
    teamId: fault.team_id,
    kind: `fault.${fault.type}`,
    phase: isMoment ? 'info' : isResolved ? 'resolve' : 'open',
    severity: fault.severity as NewNotice['severity'],
    key: `router:${fault.router_id}:${fault.type}`,
    recordId: fault.id,
    version: 2 * fault.occurrences + (isResolved ? 1 : 0),
    routerId: fault.router_id,
    at,
    data: { message: fault.message, cause: fault.cause, reopened: kind === 'reopened' },
    causes: parseCauses(fault.causes),
  };
}

export interface AgentFact {
  teamId: string;
  agentId: string;
  kind: 'open' | 'resolve';
  at: number;
  /** Routers that cannot be seen. */
  routers: number;
}

/** An agent is away, or back: one notice, however many routers are behind it. */
export function agentNotice({ teamId, agentId, kind, at, routers }: AgentFact): NewNotice {
  return {
    teamId,
    kind: 'fault.agent_offline',
    phase: kind,
    severity: FAULT_SEVERITY.agent_offline,
    key: `agent:${agentId}`,
    recordId: agentId,
    version: 'next',
    agentId,
    at,
    data: { routers },
  };
}
