import { formatDateTime, formatDuration, parseDuration } from '../../formats.ts';
import type { RouterState } from '../../state.ts';
import type { CustomCommand, MenuDefinition, Property, ProposedChange } from '../definition.ts';
import type { Item } from '../table.ts';
import { Trap } from '../types.ts';
import { counter, fixed, flag, FLAGS, readOnly } from './parts.ts';

export const PROTOCOLS = [
  'tcp',
  'udp',
  'icmp',
  'igmp',
  'ipip',
  'gre',
  'ipsec-esp',
  'ipsec-ah',
  'ospf',
  'sctp',
  'udp-lite',
  'icmpv6',
  'l2tp',
];
export const signed = (names: readonly string[]): readonly string[] => [...names, ...names.map((name) => `!${name}`)];

export const CONNECTION_STATES = ['established', 'invalid', 'new', 'related', 'untracked'];

const PORTS = ['dst-port', 'src-port', 'to-ports', 'port'];

const WITH_PORTS = ['tcp', 'udp', 'udp-lite', 'dccp', 'sctp', '6', '17', '33', '132', '136'];

/** Ports only mean something with a protocol that has them. */
function needPortProtocol({ values }: ProposedChange): void {
  const protocol = values.get('protocol') ?? '';
  const hasPorts = PORTS.some((name) => values.has(name));
  if (hasPorts && !WITH_PORTS.includes(protocol)) throw new Trap('failure: ports can be specified if proto is tcp,udp,udp-lite,dccp,sctp');
}

function checkRule(change: ProposedChange): void {
  if (change.given.has('.remove')) return;
  needPortProtocol(change);
  if (!change.item) for (const name of ['bytes', 'packets']) change.values.set(name, '0');
}

const MATCHERS: Readonly<Record<string, Property>> = {
  protocol: { type: [...signed(PROTOCOLS), '6', '17', '1'] },
  'src-address': { type: 'matcher' },
  'dst-address': { type: 'matcher' },
  'src-address-list': {},
  'dst-address-list': {},
  'src-port': { type: 'ports' },
  'dst-port': { type: 'ports' },
  port: { type: 'ports' },
  'in-interface': { type: 'interface-matcher' },
  'out-interface': { type: 'interface-matcher' },
  'in-interface-list': { type: 'interface-matcher' },
  'out-interface-list': { type: 'interface-matcher' },
  'src-mac-address': {},
  'dst-address-type': {},
  'src-address-type': {},
  'connection-mark': {},
  'packet-mark': {},
  'routing-mark': {},
  'connection-bytes': {},
  'connection-limit': {},
  'connection-rate': {},
  'connection-type': {},
  content: {},
  limit: {},
  'dst-limit': {},
  'layer7-protocol': {},
  'packet-size': {},
  'per-connection-classifier': {},
  random: {},
  time: {},
  'tcp-mss': {},
  ttl: {},
  dscp: {},
  fragment: {},
  hotspot: {},
  'in-bridge-port': {},
  'in-bridge-port-list': {},
  'out-bridge-port': {},
  'out-bridge-port-list': {},
  'ingress-priority': {},
  'ipv4-options': {},
  nth: {},
  priority: {},
  psd: {},
  realm: {},
  'icmp-options': {},
  'ipsec-policy': {},
  'jump-target': {},
  'address-list': {},
  'address-list-timeout': { type: { oneOf: [['none-dynamic', 'none-static'], 'duration'] } },
};

const RULE_END: Readonly<Record<string, Property>> = {
  log: flag('false'),
  'log-prefix': fixed(''),
  bytes: counter,
  packets: counter,
  ...FLAGS,
};

const resetCounters: CustomCommand = {
  run({ table, call }) {
    const wanted = (call.attributes.get('.id') ?? call.attributes.get('numbers'))?.split(',');
    for (const item of table.items)
      if (!wanted || wanted.includes(item.id))
        table.update(item, [
          ['bytes', '0'],
          ['packets', '0'],
        ]);
    return { rows: [] };
  },
};
const custom = { 'reset-counters': resetCounters, 'reset-counters-all': resetCounters };

const NAT_ACTIONS = [
  'accept',
  'dst-nat',
  'src-nat',
  'masquerade',
  'redirect',
  'netmap',
  'jump',
  'return',
  'log',
  'passthrough',
  'same',
  'add-src-to-address-list',
  'add-dst-to-address-list',
  'endpoint-independent-nat',
];
const FILTER_ACTIONS = [
  'accept',
  'drop',
  'reject',
  'tarpit',
  'jump',
  'return',
  'log',
  'passthrough',
  'fasttrack-connection',
  'add-src-to-address-list',
  'add-dst-to-address-list',
];

/** A rule about an interface that is gone does nothing, and says so. */
function validity(router: RouterState, item: Item): [string, string][] {
  const missing = ['in-interface', 'out-interface'].some((name) => {
    const value = item.values.get(name)?.replace(/^!/, '');
    return value !== undefined && !value.startsWith('all') && !router.table('/interface').find('name', value);
  });
  return [['invalid', String(missing)]];
}

function dateListEntry({ router, values, item, given }: ProposedChange): void {
  if (given.has('.remove')) return;
  if (!item) values.set('creation-time', formatDateTime(router.version, router.clock.wallMs()));
  const ms = given.has('timeout') ? parseDuration(values.get('timeout') ?? '') : undefined;
  if (ms !== undefined) values.set('.expires', String(router.time.now() + ms));
}

function timeLeft(router: RouterState, item: Item): [string, string][] {
  const expires = item.values.get('.expires');
  return expires === undefined
    ? []
    : [['timeout', formatDuration(Math.max(0, Math.ceil((Number(expires) - router.time.now()) / 1000)) * 1000)]];
}

export const FIREWALL_MENUS: readonly MenuDefinition[] = [
  {
    path: '/ip/firewall/filter',
    ordered: true,
    noun: 'filter rule',
    check: checkRule,
    compute: validity,
    custom,
    properties: {
      chain: { required: true },
      action: { type: FILTER_ACTIONS, default: 'accept' },
      'reject-with': {},
      'connection-state': { type: { listOf: signed(CONNECTION_STATES) } },
      'connection-nat-state': {},
      'hw-offload': { since: '7.18' },
      'tcp-flags': {},
      ...MATCHERS,
      ...RULE_END,
    },
  },
  {
    path: '/ip/firewall/nat',
    ordered: true,
    noun: 'nat rule',
    check: checkRule,
    compute: validity,
    custom,
    properties: {
      chain: { required: true },
      action: { type: NAT_ACTIONS, default: 'accept' },
      'to-addresses': { type: 'matcher' },
      'to-ports': { type: 'ports' },
      ...MATCHERS,
      ...RULE_END,
    },
  },
  {
    path: '/ip/firewall/address-list',
    noun: 'address list entry',
    nameProperty: 'address',
    unique: { properties: ['list', 'address'], message: 'failure: already have such entry' },
    properties: {
      list: { required: true },
      address: { type: 'listed', required: true },
      timeout: { type: 'duration' },
      'creation-time': readOnly,
      dynamic: readOnly,
      disabled: FLAGS['disabled'] ?? {},
      comment: {},
    },
    // An entry with a time limit is the router's own: reactions.ts removes it in time, no backup or export has it.
    isDynamic: (values) => values.has('timeout'),
    removableDynamic: true,
    check: dateListEntry,
    compute: timeLeft,
  },
  {
    path: '/ip/firewall/connection',
    without: ['add', 'set', 'unset'],
    removableDynamic: true,
    volatile: true,
    noExport: true,
    properties: {
      protocol: readOnly,
      'src-address': readOnly,
      'dst-address': readOnly,
      'reply-src-address': readOnly,
      'reply-dst-address': readOnly,
      'tcp-state': readOnly,
      timeout: readOnly,
      'orig-bytes': readOnly,
      'repl-bytes': readOnly,
      dstnat: readOnly,
      srcnat: readOnly,
      assured: readOnly,
      confirmed: readOnly,
      'seen-reply': readOnly,
      // Known of these versions; since when, and whether addresses are without ports then, is not.
      'src-port': { ...readOnly, since: '7.20' },
      'dst-port': { ...readOnly, since: '7.20' },
    },
  },
];
