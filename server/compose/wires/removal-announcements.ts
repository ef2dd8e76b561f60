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

/** Removes a router from the memory of all features, or replaces its id by the successor's. Runs in the same turn as the write. */
export function announceRemoval(change: RemovalChange, { routers, faults, devices, metadata, eventSources, states }: Audience): void {
  const [goneId, successor] = change.kind === 'removed' ? [change.router.id, undefined] : [change.mergedId, change.router];
  routers.forget(goneId, successor);
  faults.forget(goneId, successor);
  states.forget(goneId, successor);
  devices.forget(goneId, successor?.id);
  metadata.forget(goneId, successor?.id);
  eventSources.onRemoval(change);
}

/** For a removal by another control plane, which has told readers of events. */
export function silently(eventSources: Pick<EventSources, 'forgetRemoved'>): Pick<EventSources, 'onRemoval'> {
  return { onRemoval: (change) => eventSources.forgetRemoved(change) };
}
