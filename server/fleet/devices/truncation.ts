import type { Cause } from '../../platform/notices/causes.ts';
import { MAX_DEVICES_PER_ROUTER } from './limits.ts';

/** The fault text for a router with more devices than the limit. @param total null: below the limit */
export function describeTruncation(total: number | null): { message: string; causes: readonly Cause[] } | null {
  if (total === null) return null;
  return {
    message: 'Not all devices behind the router are listed',
    causes: [{ code: 'devices_kept', total, most: MAX_DEVICES_PER_ROUTER }],
  };
}
