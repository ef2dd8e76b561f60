import type { DevicesService } from '../../fleet/devices/service.ts';
import type { EventSources } from '../../outbound/events/sources.ts';
import type { FaultsService } from '../../fleet/faults/service.ts';
import type { MetadataService } from '../../fleet/metadata/service.ts';
import type { RemovalChange } from '../../fleet/removals/types.ts';
import type { StatesService } from '../../fleet/states/service.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';

interface Audience {
  routers: Pick<RoutersService, 'forget'>;
  faults: Pick<FaultsService, 'forget'>;
  devices: Pick<DevicesService, 'forget'>;
  metadata: Pick<MetadataService, 'forget'>;
  eventSources: Pick<EventSources, 'onRemoval'>;
  states: Pick<StatesService, 'forget'>;
}

/** Has everybody who remembers routers forget one, or know it under the id of its successor. In the turn in which it is stored. */
export function announceRemoval(change: RemovalChange, { routers, faults, devices, metadata, eventSources, states }: Audience): void {
  const [goneId, successor] = change.kind === 'removed' ? [change.router.id, undefined] : [change.mergedId, change.router];
  routers.forget(goneId, successor?.id);
  faults.forget(goneId, successor);
  states.forget(goneId, successor);
  devices.forget(goneId, successor?.id);
  metadata.forget(goneId, successor?.id);
  eventSources.onRemoval(change);
}
