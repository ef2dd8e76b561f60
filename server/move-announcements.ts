import type { AuditService } from './audit/service.ts';
import type { AgentGateway } from './core/agent-gateway.ts';
import type { EventSources } from './event-sources.ts';
import type { FaultsService } from './faults/service.ts';
import type { ForwardsService } from './forwards/service.ts';
import type { RoutersService } from './routers/service.ts';
import type { MoveChange } from './routers/types.ts';

interface Audience {
  routers: Pick<RoutersService, 'connectionOf'>;
  faults: Pick<FaultsService, 'onInventory' | 'setCondition'>;
  forwards: Pick<ForwardsService, 'onRouterSeen'>;
  audit: Pick<AuditService, 'record'>;
  eventSources: Pick<EventSources, 'onMove'>;
  tunnels: Pick<AgentGateway, 'notify'>;
}

/** Longest reason in a message to an agent (protocol). */
const REASON_CHARS = 300;

/** Tells everybody whom it concerns that a router changes its agent, or that one wants it to. */
export function announceMove(change: MoveChange, audience: Audience): void {
  const { kind, router, agentId, agentRouter, why, waiting } = change;
  const { routers, faults, forwards, audit, eventSources, tunnels } = audience;
  if (kind === 'requested' || kind === 'told_again' || kind === 'refused') {
    tunnels.notify(agentId, { type: 'router.waiting', router: agentRouter, hardware_id: router.hardware_id, reason: why.slice(0, REASON_CHARS) });
  }
  if (kind === 'requested' || kind === 'moved') {
    eventSources.onMove(change);
    audit.record({
      team_id: change.teamId,
      actor_kind: 'agent',
      actor_id: agentId,
      source: routers.connectionOf(agentId)?.address ?? '',
      action: kind === 'moved' ? 'router moved' : 'router move requested',
      target: `/api/routers/${router.id}`,
      result: kind === 'moved' ? 200 : 202,
      detail: `from agent ${change.ownerId}: ${why}`,
    });
  }
  const connection = kind === 'moved' ? routers.connectionOf(agentId) : undefined;
  if (connection) {
    faults.onInventory(connection, router);
    forwards.onRouterSeen(connection, router.id);
  }
  faults.setCondition(router.id, 'move_requested', wordsOf(waiting));
}

function wordsOf(waiting: readonly string[]): { message: string; cause: string } | null {
  if (waiting.length === 0) return null;
  return {
    message: 'Another agent reports this router',
    cause: `agent ${waiting.join(', ')} reports a router with this hardware id. Approve the move if the router was handed over, refuse it if not: GET /api/router-moves`,
  };
}
