import { networkOf, parsePrefix } from '../../addresses.ts';
import { isReachable } from '../../reachable.ts';
import type { RouterState } from '../../state.ts';
import type { MenuDefinition, Property, ProposedChange } from '../definition.ts';
import type { Item } from '../table.ts';
import { DISTANCE, FLAGS, comment, counter, disabled, readOnly } from './parts.ts';

/** The network follows from the address unless it is given. */
function completeAddress({ values, given, item }: ProposedChange): void {
  if (given.has('.remove') || (item && !given.has('address') && !given.has('netmask'))) return;
  const prefix = parsePrefix(values.get('address') ?? '');
  if (prefix && !given.has('network')) values.set('network', networkOf(prefix));
  values.delete('netmask');
}

function actualInterface(router: RouterState, item: Item): [string, string | undefined][] {
  const name = item.values.get('interface') ?? '';
  const known = router.table('/interface').find('name', name);
  const bridge = router.table('/interface/bridge/port').find('interface', name)?.values.get('bridge');
  return [
    ['actual-interface', bridge ?? name],
    ['invalid', String(!known)],
  ];
}

const SCOPE = { from: 0, to: 255 };
const routeDefaults: Readonly<Record<string, Property>> = {
  distance: { type: DISTANCE, default: '1' },
  scope: { type: SCOPE, default: '30' },
  'target-scope': { type: SCOPE, default: '10' },
};

const placeOf = (item: Item): string =>
  `${item.values.get('dst-address')} ${item.values.get('routing-table') ?? item.values.get('routing-mark') ?? ''}`;
const distanceOf = (item: Item): number => Number(item.values.get('distance') ?? '1');

/** With `check-gateway` a route is usable only while its gateway answers. */
function isUsable(router: RouterState, item: Item): boolean {
  if (item.values.get('disabled') === 'true') return false;
  const isChecked = !['none', ''].includes(item.values.get('check-gateway') ?? '');
  return !isChecked || (item.values.get('gateway') ?? '').split(',').some((gateway) => isReachable(router, gateway.replace(/[%@].*/, '')));
}

/** Of the usable routes to one place the nearest is active. */
function routeState(router: RouterState, item: Item): [string, string][] {
  if (item.dynamic) return [];
  const isBest = (other: Item): boolean =>
    placeOf(other) !== placeOf(item) || distanceOf(other) >= distanceOf(item) || !isUsable(router, other);
  const active = isUsable(router, item) && router.table('/ip/route').items.every(isBest);
  return [
    ['static', 'true'],
    ['active', String(active)],
  ];
}

const GATEWAYS = { listOf: 'gateway' } as const;

export const ADDRESS_MENUS: readonly MenuDefinition[] = [
  {
    path: '/ip/address',
    noun: 'address',
    nameProperty: 'address',
    check: completeAddress,
    compute: actualInterface,
    unique: { properties: ['address', 'interface'], message: 'failure: already have such address' },
    properties: {
      address: { type: 'prefix', required: true },
      network: { type: 'ip' },
      interface: { type: 'interface', required: true },
      netmask: { type: 'ip', writeOnly: true },
      broadcast: { type: 'ip', writeOnly: true },
      'actual-interface': readOnly,
      ...FLAGS,
    },
  },
  {
    path: '/ip/route',
    since: '7.0',
    noun: 'route',
    nameProperty: 'dst-address',
    compute: routeState,
    properties: {
      'dst-address': { type: 'network', default: '0.0.0.0/0' },
      'routing-table': { type: { ref: '/routing/table' }, default: 'main' },
      'pref-src': { type: 'ip' },
      gateway: { type: GATEWAYS, required: true },
      'check-gateway': { type: ['none', 'arp', 'ping', 'bfd'] },
      'immediate-gw': readOnly,
      ...routeDefaults,
      'local-address': readOnly,
      dynamic: readOnly,
      inactive: readOnly,
      active: readOnly,
      connect: readOnly,
      static: readOnly,
      disabled,
      comment,
    },
  },
  {
    path: '/ip/route',
    until: '7.0',
    noun: 'route',
    nameProperty: 'dst-address',
    compute: routeState,
    properties: {
      'dst-address': { type: 'network', default: '0.0.0.0/0' },
      'pref-src': { type: 'ip' },
      gateway: { type: GATEWAYS, required: true },
      'check-gateway': { type: ['none', 'arp', 'ping'] },
      'routing-mark': {},
      'gateway-status': readOnly,
      ...routeDefaults,
      active: readOnly,
      static: readOnly,
      connect: readOnly,
      dynamic: readOnly,
      disabled,
      comment,
    },
  },
  {
    path: '/ip/pool',
    noun: 'pool',
    unique: { properties: ['name'], message: 'failure: pool with such name exists' },
    properties: {
      name: { required: true },
      ranges: { type: { listOf: 'range' }, required: true },
      'next-pool': { type: { oneOf: [['none'], { ref: '/ip/pool' }] } },
      comment: { since: '7.0' },
    },
  },
  {
    path: '/ip/arp',
    noun: 'arp',
    nameProperty: 'address',
    removableDynamic: true,
    properties: {
      address: { type: 'ip', required: true },
      'mac-address': { type: 'mac' },
      interface: { type: 'interface', required: true },
      published: { type: 'bool', default: 'false' },
      status: { readOnly: true, since: '7.0' },
      invalid: readOnly,
      DHCP: { readOnly: true, default: 'false' },
      dynamic: readOnly,
      complete: { readOnly: true, default: 'true' },
      disabled,
      comment,
    },
  },
  {
    path: '/ip/dns',
    single: true,
    properties: {
      servers: { type: { listOf: 'ip' }, default: '' },
      'dynamic-servers': { readOnly: true, default: '' },
      'allow-remote-requests': { type: 'bool', default: 'false' },
      'max-udp-packet-size': { type: { from: 50, to: 65_507 }, default: '4096' },
      'cache-size': { type: { from: 64, to: 0xffff_ffff }, default: '2048' },
      'cache-max-ttl': { type: 'duration', default: '1w' },
      'cache-used': counter,
    },
  },
  {
    path: '/ip/dns/static',
    noun: 'dns entry',
    properties: {
      name: {},
      regexp: {},
      type: { type: ['A', 'AAAA', 'CNAME', 'FWD', 'MX', 'NS', 'NXDOMAIN', 'SRV', 'TXT'], since: '6.47' },
      address: { type: 'ip' },
      cname: { since: '6.47' },
      'forward-to': { since: '6.47' },
      text: { since: '6.47' },
      ttl: { type: 'duration', default: '1d' },
      ...FLAGS,
    },
  },
  {
    path: '/ip/neighbor',
    noExport: true,
    volatile: true,
    without: ['add', 'set', 'remove', 'unset'],
    properties: {
      interface: readOnly,
      address: readOnly,
      address4: { readOnly: true, since: '6.45' },
      'mac-address': readOnly,
      identity: readOnly,
      platform: readOnly,
      version: readOnly,
      unpack: readOnly,
      age: readOnly,
      uptime: readOnly,
      'software-id': readOnly,
      board: readOnly,
      'interface-name': readOnly,
      'system-description': readOnly,
      'system-caps': readOnly,
      'system-caps-enabled': readOnly,
    },
  },
];
