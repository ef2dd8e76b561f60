import { MAX_DEVICES_PER_ROUTER } from './limits.ts';

/** The fault text for a router with more devices than the limit. @param total null: below the limit */
export function describeTruncation(total: number | null): { message: string; cause: string } | null {
  if (total === null) return null;
  return {
    message: 'Not all devices behind the router are listed',
    cause:
      `its ARP table and DHCP leases list ${total} devices, and at most ${MAX_DEVICES_PER_ROUTER} are kept per router. ` +
      'A network scan or spoofed addresses can fill an ARP table; check /ip/arp/print count-only',
  };
}
