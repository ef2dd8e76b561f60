import { formatDateTime } from '../../formats.ts';
import type { RouterState } from '../../state.ts';
import type { MenuContext, MenuDefinition, Property, ProposedChange } from '../definition.ts';
import { monitor } from '../monitoring.ts';
import type { Item } from '../table.ts';
import { Trap } from '../types.ts';
import { autoMtu, comment, counter, disabled, fixed, flag, FLAGS, mtu, readOnly, VLAN_ID } from './parts.ts';

const DUPLICATE = { properties: ['name'], message: 'failure: already have interface with such name' };

function linkValues(router: RouterState, item: Item): [string, string | undefined][] {
  const up = item.values.get('disabled') !== 'true' && item.values.get('link') !== 'down';
  const since = Number(item.values.get('up-at') ?? '0');
  const lastUp = up && since > 0 ? formatDateTime(router.version, since) : undefined;
  return [
    ['running', String(up)],
    ['last-link-up-time', lastUp],
    ['actual-mtu', item.values.get('mtu') === 'auto' ? '1500' : item.values.get('mtu')],
  ];
}

const COUNTERS: Readonly<Record<string, Property>> = {
  'rx-byte': counter,
  'tx-byte': counter,
  'rx-packet': counter,
  'tx-packet': counter,
  'rx-drop': counter,
  'tx-drop': counter,
  'rx-error': counter,
  'tx-error': counter,
};

function ofType(...types: string[]): (item: Item) => boolean {
  return (item) => types.includes(item.values.get('type') ?? '');
}

/** An interface made in a sub-menu starts with what every interface has. */
function newInterface(type: string): (change: ProposedChange) => void {
  return ({ values, item, given }) => {
    if (item || given.has('.remove')) return;
    values.set('type', type);
    if (!values.has('mac-address')) values.set('mac-address', '02:00:00:00:00:01');
    for (const name of Object.keys(COUNTERS)) values.set(name, '0');
  };
}

const builtIn = (change: ProposedChange): void => {
  const isBuiltIn = change.item?.values.get('builtin') === 'true';
  if (isBuiltIn) throw new Trap('failure: can not change builtin list');
};

function chosenInterfaces({ router, call }: MenuContext): Item[] {
  const names = (call.attributes.get('interface') ?? call.attributes.get('.id') ?? call.attributes.get('numbers') ?? '').split(',');
  const table = router.table('/interface');
  return names.map((name) => {
    const item = table.byId(name) ?? table.find('name', name);
    if (!item) throw new Trap('input does not match any value of interface', 1);
    return item;
  });
}

const traffic = monitor(['interface', 'numbers'], (context) =>
  chosenInterfaces(context).map(
    (item) =>
      new Map([
        ['name', item.values.get('name') ?? ''],
        ['rx-packets-per-second', '12'],
        ['rx-bits-per-second', '9600'],
        ['tx-packets-per-second', '11'],
        ['tx-bits-per-second', '12000'],
      ]),
  ),
);

const link = monitor(['numbers'], (context) =>
  chosenInterfaces(context).map((item) => {
    const isUp = item.values.get('disabled') !== 'true' && item.values.get('link') !== 'down';
    const speed: [string, string][] = isUp
      ? [
          ['rate', '1Gbps'],
          ['full-duplex', 'true'],
        ]
      : [];
    return new Map([
      ['name', item.values.get('name') ?? ''],
      ['status', isUp ? 'link-ok' : 'no-link'],
      ['auto-negotiation', 'done'],
      ...speed,
    ]);
  }),
);

/** A menu for one more kind of interface: its items are interfaces of that type. */
export function interfaceMenu(menu: MenuDefinition, type: string): MenuDefinition {
  const { name, mtu: size, ...rest } = menu.properties;
  return {
    ...menu,
    tableOf: '/interface',
    only: ofType(type),
    noun: 'interface',
    unique: DUPLICATE,
    compute: linkValues,
    check: newInterface(type),
    properties: {
      ...(name ? { name } : {}),
      ...(size ? { mtu: size, 'actual-mtu': readOnly } : {}),
      'mac-address': readOnly,
      ...rest,
      running: readOnly,
      disabled,
      comment,
    },
  };
}

const poe = monitor(['numbers'], (context) =>
  chosenInterfaces(context).map(
    (item) =>
      new Map([
        ['name', item.values.get('name') ?? ''],
        ['poe-out', item.values.get('poe-out') ?? 'off'],
        ['poe-out-status', item.values.get('.poe-status') ?? 'disabled'],
      ]),
  ),
);

export const INTERFACE_MENUS: readonly MenuDefinition[] = [
  {
    path: '/interface',
    without: ['add', 'remove', 'unset'],
    noun: 'interface',
    noExport: true,
    unique: DUPLICATE,
    compute: linkValues,
    properties: {
      name: { required: true },
      'default-name': readOnly,
      type: readOnly,
      mtu: autoMtu,
      'actual-mtu': readOnly,
      l2mtu: readOnly,
      'mac-address': readOnly,
      'last-link-up-time': readOnly,
      'link-downs': counter,
      ...COUNTERS,
      running: readOnly,
      slave: readOnly,
      dynamic: readOnly,
      disabled,
      comment,
    },
    custom: { 'monitor-traffic': traffic },
  },
  {
    path: '/interface/ethernet',
    tableOf: '/interface',
    only: ofType('ether'),
    without: ['add', 'remove', 'unset'],
    noun: 'interface',
    unique: DUPLICATE,
    compute: linkValues,
    custom: { monitor: link },
    properties: {
      name: { required: true },
      'default-name': readOnly,
      mtu,
      l2mtu: { type: { from: 0, to: 65_536 } },
      'mac-address': { type: 'mac' },
      'orig-mac-address': readOnly,
      arp: fixed('enabled'),
      'auto-negotiation': flag('true'),
      running: readOnly,
      slave: readOnly,
      disabled,
      comment,
    },
  },
  {
    path: '/interface/ethernet/poe',
    tableOf: '/interface',
    only: (item) => item.values.has('poe-out'),
    without: ['add', 'remove', 'unset'],
    custom: { monitor: poe },
    properties: {
      name: readOnly,
      'poe-out': { type: ['auto-on', 'forced-on', 'off'] },
      'poe-priority': { type: { from: 0, to: 99 } },
      'poe-lldp-enabled': { type: 'bool', since: '7.0' },
    },
  },
  {
    path: '/interface/bridge',
    tableOf: '/interface',
    only: ofType('bridge'),
    noun: 'interface',
    unique: DUPLICATE,
    compute: linkValues,
    check: newInterface('bridge'),
    properties: {
      name: { required: true },
      mtu: autoMtu,
      'actual-mtu': readOnly,
      'mac-address': readOnly,
      'protocol-mode': { type: ['none', 'rstp', 'stp', 'mstp'], default: 'rstp' },
      'vlan-filtering': flag('false'),
      running: readOnly,
      disabled,
      comment,
    },
  },
  {
    path: '/interface/bridge/port',
    noun: 'bridge port',
    properties: {
      interface: { type: 'interface', required: true },
      bridge: { type: 'interface', required: true },
      pvid: { type: VLAN_ID, default: '1' },
      inactive: readOnly,
      ...FLAGS,
    },
  },
  {
    path: '/interface/vlan',
    tableOf: '/interface',
    only: ofType('vlan'),
    noun: 'interface',
    unique: DUPLICATE,
    compute: linkValues,
    check: newInterface('vlan'),
    properties: {
      name: { required: true },
      mtu,
      'mac-address': readOnly,
      'vlan-id': { type: VLAN_ID, required: true },
      interface: { type: 'interface', required: true },
      running: readOnly,
      disabled,
      comment,
    },
  },
  {
    path: '/interface/list',
    noun: 'interface list',
    check: builtIn,
    unique: { properties: ['name'], message: 'failure: interface list with such name already exists' },
    properties: { name: { required: true }, include: fixed(''), exclude: fixed(''), builtin: readOnly, dynamic: readOnly, comment },
  },
  {
    path: '/interface/list/member',
    noun: 'interface list member',
    unique: { properties: ['list', 'interface'], message: 'failure: already have such member' },
    properties: {
      list: { type: 'interface-matcher', required: true },
      interface: { type: 'interface', required: true },
      dynamic: readOnly,
      disabled,
      comment,
    },
  },
];
