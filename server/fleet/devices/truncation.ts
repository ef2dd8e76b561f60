import { MAX_DEVICES_PER_ROUTER } from './limits.ts';

/** What people are told of a router that has more devices than are kept; null when all are. @param total null: all are told */
export function describeTruncation(total: number | null): { message: string; cause: string } | null {
  if (total === null) return null;
  return {
    message: 'Not all devices behind the router are listed',
    cause:
      `its ARP table and DHCP leases name ${total} devices, and at most ${MAX_DEVICES_PER_ROUTER} of a router are kept. ` +
      'A network scan or made-up addresses fill an ARP table; look at /ip/arp/print count-only',
  };
}
