import { createContext, use, useCallback, useSyncExternalStore } from 'react';
import type { Router } from '../../../client/browser.ts';
import type { Fleet } from './fleet.ts';
import type { LiveState } from './live.ts';

export const FleetContext = createContext<Fleet | undefined>(undefined);

export function useFleet(): Fleet {
  const fleet = use(FleetContext);
  if (!fleet) throw new Error('a page needs the fleet');
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

export function useLive(): LiveState {
  const { live } = useFleet();
  return useSyncExternalStore(live.subscribe, () => live.state);
}
