import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The unit that rate limits count: an IPv4 address, or the /64 network of an IPv6 address, the least that one subscriber has. */
export function networkOf(address: string): string {
  // Nearly all addresses, and asked several times for each dial of a fleet that connects at once.
  if (isIPv4(address)) return address;
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6
    ? `${parsed.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')}::/64`
    : parsed.toString();
}
