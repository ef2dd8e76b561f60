import type { Command } from './command.ts';
import { identities, nameOf, siteNames } from './names.ts';
import { table } from './text.ts';

const devices: Command = {
  name: 'devices',
  summary: 'list the devices behind the routers',
  positionals: [],
  options: {
    search: { value: 'TEXT', help: 'match part of host name, alias, manufacturer, IP or MAC address' },
    site: { value: 'ID', help: 'only devices of this site' },
  },
  examples: ['devices', 'devices --search till'],
  async run({ signalbox, surroundings: { signal, columns }, json }, input) {
    const [search, site] = [input.option('search'), input.option('site')];
    const query = { ...(search === undefined ? {} : { search }), ...(site === undefined ? {} : { site_id: site }) };
    const found = await signalbox.all('listDevices', { query }, { signal });
    if (json || found.length === 0) return { json: found, text: 'no devices\n' };
    const [routers, sites] = [await identities(signalbox, signal), await siteNames(signalbox, signal)];
    const text = table(
      found,
      [
        ['MAC ADDRESS', (device) => device.mac_address],
        ['IP', (device) => device.current_ip?.ip_address],
        ['ALIAS', (device) => device.alias],
        ['HOST NAME', (device) => device.hostname],
        ['MANUFACTURER', (device) => device.manufacturer],
        ['ROUTER', (device) => nameOf(routers, device.router_id)],
        ['SITE', (device) => nameOf(sites, device.site_id)],
        ['LAST SEEN', (device) => device.last_seen_at],
      ],
      'no devices',
      columns,
    );
    return { json: found, text };
  },
};

const deviceName: Command = {
  name: 'device name',
  summary: 'set the alias of a device; an empty NAME removes it',
  positionals: ['MAC', 'NAME'],
  options: {},
  examples: ['device name 02:00:5E:10:00:01 "Till 3"', 'device name 02:00:5E:10:00:01 ""'],
  async run({ signalbox, surroundings: { signal } }, input) {
    const device = await signalbox.call('nameDevice', { path: { macAddress: input.at(0) }, body: { alias: input.at(1) } }, { signal });
    return { json: device, text: `${device.mac_address} ${device.alias === null ? 'has no alias' : `is ${device.alias}`}\n` };
  },
};

export const deviceCommands: readonly Command[] = [devices, deviceName];
