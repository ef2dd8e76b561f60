import type { RouterState } from '../../state.ts';
import { Trap } from '../types.ts';

/** Refuses what the router's device-mode forbids; RouterOS 6 has no such thing. */
export function demandFeature(router: RouterState, feature: string): void {
  if (router.hasMenu('/system/device-mode') && router.setting('/system/device-mode', feature) === 'false') {
    throw new Trap('failure: not allowed by device-mode');
  }
}
