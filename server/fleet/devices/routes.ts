import { z } from 'zod';
import { invalidField } from '../../platform/core/errors.ts';
import type { App } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/authentication.ts';
import { commonErrors, dateTime, envelope, success, toDateTime } from '../../platform/http/envelope.ts';
import { pathId } from '../../platform/http/fields.ts';
import { searchField } from '../../platform/http/list-query.ts';
import { linkNext, pageQuery, readPage } from '../../platform/http/pagination.ts';
import { isLocallyAdministered, normaliseMac } from './mac.ts';
import type { DevicesService } from './service.ts';
import type { Device } from './types.ts';

/** docs/interface.md, device; null for what is not known. */
const deviceSchema = z
  .object({
    mac_address: z.string(),
    hostname: z.string().nullable(),
    alias: z.string().nullable(),
    manufacturer: z.string().nullable(),
    locally_administered: z.boolean().describe('Software assigned the address, as phones do; it identifies no manufacturer'),
    site_id: z.uuid().nullable(),
    current_ip: z
      .object({ ip_address: z.string(), interface: z.string().nullable(), first_seen_at: dateTime, last_seen_at: dateTime })
      .nullable(),
    router_id: z.string().nullable().describe('The router that reports it at current_ip'),
    first_seen_at: dateTime,
    last_seen_at: dateTime,
  })
  .meta({
    id: 'Device',
    examples: [
      {
        mac_address: '4C:5E:0C:AA:BB:01',
        hostname: 'till-3',
        alias: 'Till by the door',
        manufacturer: 'Routerboard.com',
        locally_administered: false,
        site_id: '01a1fb90-11aa-7d2c-9f0e-3a1c5e7b9d24',
        current_ip: {
          ip_address: '192.168.88.42',
          interface: 'bridge',
          first_seen_at: '2031-05-01T06:00:00.000Z',
          last_seen_at: '2031-05-01T08:30:00.000Z',
        },
        router_id: '01a1fb9c-376e-7279-a064-482cecad7b5b',
        first_seen_at: '2031-01-15T10:00:00.000Z',
        last_seen_at: '2031-05-01T08:30:00.000Z',
      },
    ],
  });

const macParams = z.object({
  macAddress: z.string().max(100).describe('Any common spelling: 4C:5E:0C:AA:BB:01, 4c-5e-0c-aa-bb-01, 4c5e.0caa.bb01 …'),
});
const deviceQuery = pageQuery.extend({
  site_id: pathId.optional(),
  router_id: pathId.optional().describe('Devices that this router sees or has seen; not together with `search`'),
  search: searchField
    .optional()
    .describe('Part of host name, alias, manufacturer, IP or MAC address; with one or two characters, the beginning of one'),
});

export function deviceRoutes(app: App, deps: { devices: Pick<DevicesService, 'listDevices' | 'getDevice' | 'setAlias'> }): void {
  const { devices } = deps;
  app.get(
    '/arp/devices',
    {
      schema: {
        tags: ['devices'],
        operationId: 'listDevices',
        summary: 'List the devices behind the routers, newest first',
        querystring: deviceQuery,
        response: { 200: envelope(z.array(deviceSchema)), ...commonErrors },
      },
    },
    async (request, reply) => {
      const page = readPage(request.query);
      const { site_id: siteId, router_id: routerId, search } = request.query;
      if (routerId !== undefined && search !== undefined) throw invalidField('search', 'cannot be combined with router_id');
      const found = await devices.listDevices(principalOf(request).teamId, { siteId, routerId, search }, page);
      linkNext(request, reply, page, found, ({ device, at }) => ({ at, id: device.id }));
      return success(found.map(({ device }) => present(device)));
    },
  );
  app.get(
    '/arp/devices/:macAddress',
    {
      schema: {
        tags: ['devices'],
        operationId: 'getDevice',
        summary: 'Read a device',
        params: macParams,
        response: { 200: deviceSchema, ...commonErrors },
      },
    },
    async (request) => present(await devices.getDevice(principalOf(request).teamId, readMac(request.params.macAddress))),
  );
  app.put(
    '/arp/devices/:macAddress',
    {
      config: { role: 'operator' },
      schema: {
        tags: ['devices'],
        operationId: 'nameDevice',
        summary: 'Set the alias of a device at all sites of the team; an empty alias clears it',
        params: macParams,
        body: z
          .object({
            alias: z
              .string()
              .trim()
              .max(255)
              .meta({ examples: ['Till by the door'] }),
          })
          .meta({ id: 'DeviceName' }),
        response: { 200: deviceSchema, ...commonErrors },
      },
    },
    async (request) => {
      const mac = readMac(request.params.macAddress);
      return present(await devices.setAlias(principalOf(request).teamId, mac, request.body.alias));
    },
  );
}

/** @throws AppError `invalid` */
function readMac(text: string): string {
  const mac = normaliseMac(text);
  if (mac === undefined) throw invalidField('macAddress', 'is not a MAC address');
  return mac;
}

function present(device: Device): z.infer<typeof deviceSchema> {
  const { current } = device;
  return {
    mac_address: device.mac,
    hostname: device.hostname,
    alias: device.alias,
    manufacturer: device.manufacturer,
    locally_administered: isLocallyAdministered(device.mac),
    site_id: device.siteId,
    current_ip: current && {
      ip_address: current.ipAddress,
      interface: current.interface,
      first_seen_at: toDateTime(current.ipFirstSeenAt),
      last_seen_at: toDateTime(current.lastSeenAt),
    },
    router_id: current?.routerId ?? null,
    first_seen_at: toDateTime(device.firstSeenAt),
    last_seen_at: toDateTime(device.lastSeenAt),
  };
}
