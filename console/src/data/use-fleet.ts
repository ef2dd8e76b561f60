import { createContext, use, useCallback, useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import type { Router, StreamEvent } from '../../../client/browser.ts';
import type { Fleet } from './fleet.ts';
import type { LiveState } from './live.ts';

export const FleetContext = createContext<Fleet | undefined>(undefined);

export function useFleet(): Fleet {
  const fleet = use(FleetContext);
  if (!fleet) throw new Error('a page needs the fleet');
  // Rendered again when the role of the person changes.
  useSyncExternalStore(fleet.who.subscribe, () => fleet.me);
  return fleet;
}

/** Rendered again when this router changes, and at nothing else. */
export function useRouterRecord(id: string): Router | undefined {
  const { routers } = useFleet();
  const subscribe = useCallback((listener: () => void) => routers.subscribeTo(id, listener), [routers, id]);
  return useSyncExternalStore(subscribe, () => routers.get(id));
}

/** A number that changes with every change of any router. */
export function useRoutersVersion(): number {
  const { routers } = useFleet();
  return useSyncExternalStore(routers.subscribe, () => routers.version);
}

/** Calls with every event while the component is on the page. */
export function useEvents(hears: (event: StreamEvent) => void): void {
  const fleet = useFleet();
  const onEvent = useEffectEvent(hears);
  useEffect(() => fleet.hear((event) => onEvent(event)), [fleet]);
}

/** Has the stream tell of this forward's traffic, which then is in its record (`figures.ts`). */
export function useTraffic(forwardId: string, isWanted: boolean): void {
  const { live } = useFleet();
  useEffect(() => (isWanted ? live.watch(forwardId) : undefined), [live, forwardId, isWanted]);
}

export function useLive(): LiveState {
  const { live } = useFleet();
  return useSyncExternalStore(live.subscribe, () => live.state);
}
