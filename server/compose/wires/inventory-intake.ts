import type { Inventory } from '../../../protocol/index.ts';
import type { AgentConnection } from '../../platform/core/agent-gateway.ts';
import type { EventSources } from '../../outbound/events/sources.ts';
import type { FaultsService } from '../../fleet/faults/service.ts';
import type { ForwardsService } from '../../work/forwards/service.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import type { StatesService } from '../../fleet/states/service.ts';

interface Audience {
  routers: Pick<RoutersService, 'onInventory' | 'duplicates'>;
  eventSources: Pick<EventSources, 'onInventory'>;
  faults: Pick<FaultsService, 'onInventory' | 'onEntryLost'>;
  forwards: Pick<ForwardsService, 'onRouterSeen'>;
  states: Pick<StatesService, 'onInventory' | 'onEntryLost'>;
}

/** Stores which router an agent reports under a name and informs the features. @throws AppError as `RoutersService.onInventory` */
export async function storeInventory(connection: AgentConnection, inventory: Inventory, audience: Audience): Promise<void> {
  await storeOne(connection, inventory, audience);
  const { duplicates } = audience.routers;
  // Another entry may wait for the router that this entry had.
  let freed = duplicates.takeFreed(connection.agentId);
  for (; freed; freed = duplicates.takeFreed(connection.agentId)) await storeOne(connection, freed, audience);
}

async function storeOne(
  connection: AgentConnection,
  inventory: Inventory,
  { routers, eventSources, faults, forwards, states }: Audience,
): Promise<void> {
  const router = await routers.onInventory(connection, inventory);
  if (!router) {
    faults.onEntryLost(connection, inventory.router);
    states.onEntryLost(connection, inventory.router);
    return;
  }
  eventSources.onInventory(router);
  faults.onInventory(connection, router);
  states.onInventory(router);
  forwards.onRouterSeen(connection, router.id);
}
