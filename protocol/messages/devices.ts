import * as z from 'zod';
import { MAX_DEVICES_PER_MESSAGE } from '../limits.ts';
import { ipAddressFact } from '../../routeros-text/router-text.ts';
import { routerList, routerName, routerText } from './common.ts';

const macAddress = z.string().regex(/^(?:[0-9A-F]{2}:){5}[0-9A-F]{2}$/);

export const seenDevice = z.object({
  mac: macAddress,
  ip: z.string().transform(ipAddressFact).optional(),
  interface: routerText(128).optional(),
  hostname: routerText(255).optional(),
  /** Seconds since the device was last seen; absent while it is present. It stays present until it is listed in `gone`. */
  seen_ago: z.int().min(0).max(1_000_000_000).optional(),
});

/**
 * Agent: the devices behind a router, from its ARP table and its DHCP leases. First all of them in one or more messages (`full`),
 * then only new, changed and gone devices (`delta`). Nothing is sent while nothing changes.
 */
export const devices = z.object({
  type: z.literal('devices'),
  router: routerName,
  kind: z.enum(['full', 'delta']),
  /** `full` only: whether this is the first or the last of its messages. Devices that none of them lists are gone. */
  first: z.boolean(),
  last: z.boolean(),
  devices: routerList(seenDevice, MAX_DEVICES_PER_MESSAGE),
  gone: routerList(macAddress, MAX_DEVICES_PER_MESSAGE),
  /** Number of devices of the router, when the agent does not report all. Absent: all are reported, or the agent is older. */
  total: z.int().min(0).max(1_000_000_000).optional(),
});
