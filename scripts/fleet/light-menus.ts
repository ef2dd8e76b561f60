import type { ReplyErrorCode } from '../../protocol/index.ts';
import type { RouterView } from './router-view.ts';

type Row = Record<string, string>;

/** What a router answers to one command, over the API. */
export type CommandAnswer = { rows: Row[]; ret?: string } | { error: { code: ReplyErrorCode; message: string; category?: number } };

const MIB = 1024 * 1024;

const MENUS: Readonly<Record<string, (router: RouterView) => Row[]>> = {
  '/system/identity': ({ identity }) => [{ name: identity }],
  '/system/resource': (router) => [resource(router)],
  '/system/routerboard': ({ plan }) => [
    { routerboard: 'true', model: plan.model.model, 'serial-number': plan.serial, 'current-firmware': numberOf(plan.version) },
  ],
  '/system/clock': () => [{ 'time-zone-name': 'Europe/Riga', 'time-zone-autodetect': 'true' }],
  '/system/package': ({ version }) => [{ '.id': '*1', name: 'routeros', version: numberOf(version), disabled: 'false' }],
  '/ip/address': ({ plan }) => [
    { '.id': '*1', address: `${plan.host}/24`, network: plan.host.replace(/\d+$/, '0'), interface: 'ether1', comment: 'management' },
    { '.id': '*2', address: '192.168.88.1/24', network: '192.168.88.0', interface: 'bridge' },
  ],
  '/ip/route': ({ plan }) => [
    { '.id': '*1', 'dst-address': '0.0.0.0/0', gateway: plan.host.replace(/\d+$/, '254'), distance: '1', active: 'true' },
    { '.id': '*2', 'dst-address': '192.168.88.0/24', gateway: 'bridge', distance: '0', active: 'true' },
  ],
  '/interface': ({ plan }) => [
    ...Array.from({ length: plan.model.ports }, (_, index) => ({
      '.id': `*${(index + 1).toString(16)}`,
      name: `ether${index + 1}`,
      type: 'ether',
      running: String(index < 2 + (plan.devices % 4)),
      disabled: 'false',
      mtu: '1500',
    })),
    { '.id': '*FF', name: 'bridge', type: 'bridge', running: 'true', disabled: 'false', mtu: '1500' },
  ],
  '/ip/arp': (router) =>
    router
      .devices()
      .map(({ mac, ip = '', interface: port = '' }, index) => ({
        '.id': `*${(index + 1).toString(16)}`,
        address: ip,
        'mac-address': mac,
        interface: port,
        complete: 'true',
      })),
  '/ip/dhcp-server/lease': (router) =>
    router
      .devices()
      .map(({ mac, ip = '', hostname = '' }, index) => ({
        '.id': `*${(index + 1).toString(16)}`,
        address: ip,
        'mac-address': mac,
        'host-name': hostname,
        status: 'bound',
      })),
  '/user': () => [
    { '.id': '*1', name: 'admin', group: 'full', disabled: 'true' },
    { '.id': '*2', name: 'signalbox', group: 'signalbox', disabled: 'false' },
  ],
};

/** `print` of some menus with `?name=value` and `=.proplist=`, and every `set`, `add` and `remove` as a line of configuration. */
export function answerCommand(router: RouterView, path: string, words: readonly string[]): CommandAnswer {
  if (path === '/export')
    return {
      rows: router
        .export()
        .split('\n')
        .map((line) => ({ line })),
    };
  const at = path.lastIndexOf('/');
  const [menu, verb] = [path.slice(0, at), path.slice(at + 1)];
  const rows = MENUS[menu];
  if (verb === 'print' && rows) return { rows: rows(router).filter(matches(words)).map(columns(words)) };
  if (/^(?:set|add|remove)$/.test(verb) && menu !== '') return change(router, menu, verb, words);
  return { error: { code: 'rejected', message: 'no such command prefix', category: 0 } };
}

function change(router: RouterView, menu: string, verb: string, words: readonly string[]): CommandAnswer {
  const name = valueOf(words, 'name');
  if (menu === '/system/identity' && verb === 'set' && name !== undefined) router.identity = name;
  else
    router.changes.push(
      menu.slice(1).replaceAll('/', ' ').replace(/^/, '/'),
      [verb, ...words.map((word) => word.replace(/^=/, ''))].join(' '),
    );
  return verb === 'add' ? { rows: [], ret: `*${router.changes.length.toString(16).toUpperCase()}` } : { rows: [] };
}

function valueOf(words: readonly string[], name: string): string | undefined {
  return words.find((word) => word.startsWith(`=${name}=`))?.slice(name.length + 2);
}

function matches(words: readonly string[]): (row: Row) => boolean {
  const queries = words.filter((word) => word.startsWith('?')).map((word) => word.slice(1).replace(/^=/, '').split('=', 2));
  return (row) => queries.every(([name = '', value]) => (value === undefined ? name in row : row[name] === value));
}

function columns(words: readonly string[]): (row: Row) => Row {
  const wanted = valueOf(words, '.proplist')?.split(',');
  if (!wanted) return (row) => row;
  return (row) => Object.fromEntries(Object.entries(row).filter(([name]) => wanted.includes(name)));
}

function resource({ plan, version, uptimeSeconds }: RouterView): Row {
  const days = Math.floor(uptimeSeconds / 86_400);
  return {
    uptime: `${days}d${Math.floor((uptimeSeconds % 86_400) / 3600)}h${Math.floor((uptimeSeconds % 3600) / 60)}m${uptimeSeconds % 60}s`,
    version,
    'board-name': plan.model.board,
    'architecture-name': plan.model.architecture,
    'cpu-load': '6',
    'free-memory': String(Math.floor(plan.model.memoryMb * MIB * 0.5)),
    'total-memory': String(plan.model.memoryMb * MIB),
    platform: 'MikroTik',
  };
}

function numberOf(version: string): string {
  return version.split(' ')[0]!;
}
