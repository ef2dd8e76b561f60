import type { AuditService } from '../../access/audit/service.ts';
import type { Cause } from '../../platform/notices/causes.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { EventSources } from '../../outbound/events/sources.ts';
import type { FaultsService } from '../../fleet/faults/service.ts';
import type { Finding } from '../../fleet/faults/types.ts';
import type { ForwardsService } from '../../work/forwards/service.ts';
import type { DuplicateChange, EntryAddress } from '../../fleet/routers/entries/duplicates.ts';
import type { MovedElsewhere } from '../../fleet/removals/told-routers.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import type { StatesService } from '../../fleet/states/service.ts';
import type { MoveChange } from '../../fleet/routers/types.ts';

interface Followers {
  routers: Pick<RoutersService, 'onMovedElsewhere'>;
  states: Pick<StatesService, 'onMovedElsewhere'>;
  faults: Pick<FaultsService, 'onMovedElsewhere'>;
}

interface Audience {
  routers: Pick<RoutersService, 'connectionOf' | 'presence' | 'moves' | 'duplicates'>;
  faults: Pick<FaultsService, 'onInventory' | 'setCondition' | 'setClaims'>;
  forwards: Pick<ForwardsService, 'onRouterSeen'>;
  audit: Pick<AuditService, 'record'>;
  eventSources: Pick<EventSources, 'onMove'>;
  gateway: Pick<AgentGateway, 'notify'>;
  states: Pick<StatesService, 'onInventory'>;
}

/** Longest reason in a message to an agent (protocol). */
const REASON_CHARS = 300;

/** Informs the affected features which agent, and which of its entries, manages or requests a router. */
export function announceMoves(audience: Audience): void {
  const { routers, faults } = audience;
  routers.moves.changes.subscribe((change) => announceMove(change, audience));
  routers.duplicates.changes.subscribe((change) => faults.setCondition(change.routerId, 'duplicate_serial', duplicateFinding(change)));
}

function announceMove(change: MoveChange, audience: Audience): void {
  const { kind, router, agentId, agentEntry, reason } = change;
  const { routers, faults, forwards, audit, eventSources, gateway, states } = audience;
  if (kind === 'requested' || kind === 'reported_again' || kind === 'refused') {
    gateway.notify(agentId, {
      type: 'router.waiting',
      router: agentEntry,
      hardware_id: router.hardware_id,
      reason: reason.slice(0, REASON_CHARS),
    });
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
      detail: `from agent ${change.ownerId}: ${reason}`,
      router_id: router.id,
    });
  }
  if (kind === 'moved') states.onInventory(router);
  const connection = kind === 'moved' ? routers.connectionOf(agentId) : undefined;
  if (connection) {
    faults.onInventory(connection, router);
    forwards.onRouterSeen(connection, router.id);
  }
  const holder = router.agent_id;
  const address = routers.connectionOf(holder)?.address ?? routers.presence.get(router.id).lastSeenFrom;
  faults.setClaims(router, moveFinding(change, address));
}

/** Another control plane has given the router to another agent, and has told everybody. */
export function followMove({ router, formerAgentId }: MovedElsewhere, { routers, states, faults }: Followers): void {
  routers.onMovedElsewhere(router, formerAgentId);
  states.onMovedElsewhere(router);
  faults.onMovedElsewhere(router);
}

/** Agents and entries named in one fault, to limit its text. */
const NAMED = 3;

function moveFinding({ waiting, holderName, router }: MoveChange, holderAddress: string | null): Finding | null {
  if (waiting.length === 0) return null;
  const claims = waiting
    .slice(0, NAMED)
    .map(({ agentName: agent, address, agentEntry: entry }): Cause => ({ code: 'claimed_by', agent, address, entry }));
  const more = waiting.length - claims.length;
  return {
    message: 'Another agent reports this router',
    causes: [
      ...claims,
      ...(more > 0 ? [{ code: 'more_claims', count: more } as const] : []),
      { code: 'held_by', agent: holderName, address: holderAddress ?? '', entry: router.agent_router },
    ],
  };
}

/** Two entries of one agent report the same hardware id; null when the conflict has ended. */
function duplicateFinding({ hardwareId, holder, others }: DuplicateChange): Finding | null {
  if (others.length === 0) return null;
  const name = ({ name: entry, host }: EntryAddress): string => (host === null ? `"${entry}"` : `"${entry}" (${host})`);
  return {
    message: 'Another entry of the agent reports the same serial number',
    causes: [
      {
        code: 'same_serial',
        holder: name(holder),
        others: others.slice(0, NAMED).map(name).join(', '),
        more: Math.max(0, others.length - NAMED),
        id: hardwareId,
      },
    ],
  };
}
