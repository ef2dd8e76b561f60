import type { Command } from './command.ts';
import { rowsText, table } from './text.ts';

const routers: Command = {
  name: 'routers',
  summary: 'list the routers',
  positionals: [],
  options: {},
  async run({ signalbox, surroundings: { signal } }) {
    const found = await signalbox.all('listRouters', {}, { signal });
    const text = table(
      found,
      [
        ['ID', (router) => router.id],
        ['IDENTITY', (router) => router.identity],
        ['MODEL', (router) => router.model ?? router.board_name],
        ['VERSION', (router) => router.software_version],
        ['PULSE', (router) => router.has_pulse],
        ['LAST SEEN', (router) => router.last_seen],
        ['FROM', (router) => router.last_seen_from],
      ],
      'no routers yet',
    );
    return { json: found, text };
  },
};

const run: Command = {
  name: 'run',
  summary: 'run a command on a router and print its rows',
  positionals: ['ROUTER', 'COMMAND', '[PARAMETERS…]'],
  options: { 'timeout-seconds': { value: 'N', help: 'how long the router may take, up to 120 (30)' } },
  async run({ signalbox, surroundings: { signal, columns } }, input) {
    const seconds = input.number('timeout-seconds');
    const id = await signalbox.routerIdOf(input.at(0), { signal });
    const body = {
      command: input.at(1),
      parameters: joinParameters(input.from(2)),
      ...(seconds === undefined ? {} : { timeout_seconds: seconds }),
    };
    const { data } = await signalbox.call('runCommand', { path: { router_id: id }, body }, { signal });
    return { json: data, text: rowsText(data, columns) };
  },
};

/**
 * The words as the shell split them, as the service reads them. API words go one to a line; of console words, a value
 * with a space in it gets back the quotes that the shell took.
 */
export function joinParameters(words: readonly string[]): string {
  if (words.length <= 1) return words[0] ?? '';
  if (words.every((word) => /^[=?.#]/.test(word))) return words.join('\n');
  return words.map(quoteAgain).join(' ');
}

function quoteAgain(word: string): string {
  const [, name, value] = /^([^=\s"]+)=(.*)$/s.exec(word) ?? [];
  if (name === undefined || value === undefined || /^"|^[^\s";\\]*$/.test(value)) return word;
  return `${name}="${value.replaceAll(/["\\$?]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)}"`;
}

const faults: Command = {
  name: 'faults',
  summary: 'list what is, or was, wrong with a router',
  positionals: ['ROUTER'],
  options: { open: { help: 'only what is wrong now' } },
  async run({ signalbox, surroundings: { signal } }, input) {
    const id = await signalbox.routerIdOf(input.at(0), { signal });
    const query = input.isOn('open') ? { status: 'open' as const } : {};
    const found = await signalbox.all('listFaults', { path: { router_id: id }, query }, { signal });
    const text = table(
      found,
      [
        ['SINCE', (fault) => fault.created_at],
        ['STATUS', (fault) => fault.status],
        ['SEVERITY', (fault) => fault.severity],
        ['TYPE', (fault) => fault.type],
        ['MESSAGE', (fault) => fault.message],
        ['CAUSE', (fault) => fault.cause],
      ],
      'nothing is wrong',
    );
    return { json: found, text };
  },
};

const devices: Command = {
  name: 'devices',
  summary: 'list the devices behind the routers',
  positionals: [],
  options: {
    search: { value: 'TEXT', help: 'part of host name, alias, manufacturer, IP or MAC address' },
    site: { value: 'ID', help: 'only of this site' },
  },
  async run({ signalbox, surroundings: { signal } }, input) {
    const [search, site] = [input.option('search'), input.option('site')];
    const query = { ...(search === undefined ? {} : { search }), ...(site === undefined ? {} : { site_id: site }) };
    const found = await signalbox.all('listDevices', { query }, { signal });
    const text = table(
      found,
      [
        ['MAC ADDRESS', (device) => device.mac_address],
        ['IP', (device) => device.current_ip?.ip_address],
        ['ALIAS', (device) => device.alias],
        ['HOST NAME', (device) => device.hostname],
        ['MANUFACTURER', (device) => device.manufacturer],
        ['LAST SEEN', (device) => device.last_seen_at],
      ],
      'no devices',
    );
    return { json: found, text };
  },
};

const deviceName: Command = {
  name: 'device name',
  summary: 'give a device a name that people know; an empty one takes it away',
  positionals: ['MAC', 'NAME'],
  options: {},
  async run({ signalbox, surroundings: { signal } }, input) {
    const device = await signalbox.call('nameDevice', { path: { macAddress: input.at(0) }, body: { alias: input.at(1) } }, { signal });
    return { json: device, text: `${device.mac_address} is ${device.alias ?? 'without a name'}\n` };
  },
};

export const routerCommands: readonly Command[] = [routers, run, faults, devices, deviceName];
