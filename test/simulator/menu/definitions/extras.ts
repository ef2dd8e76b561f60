/** Menus nothing else depends on: kept, printed and exported like any other. */
import type { MenuDefinition, Property } from '../definition.ts';
import { CONNECTION_STATES, PROTOCOLS, signed } from './firewall.ts';
import { comment, disabled, DISTANCE, fixed, flag, FLAGS, readOnly } from './parts.ts';

const mangleMatchers: Readonly<Record<string, Property>> = {
  protocol: { type: [...signed(PROTOCOLS), '6', '17', '1'] }, 'src-address': { type: 'matcher' }, 'dst-address': { type: 'matcher' }, 'src-port': { type: 'ports' }, 'dst-port': { type: 'ports' },
  'in-interface': { type: 'interface-matcher' }, 'out-interface': { type: 'interface-matcher' }, 'connection-mark': {}, 'packet-mark': {},
  'src-address-list': {}, 'dst-address-list': {}, 'tcp-flags': {},
};

const TO_LISTS = ['add-dst-to-address-list', 'add-src-to-address-list'];
const MANGLE_ACTIONS = [
  'accept', ...TO_LISTS, 'change-dscp', 'change-mss', 'change-ttl', 'clear-df', 'fasttrack-connection', 'jump', 'log', 'mark-connection', 'mark-packet',
  'mark-routing', 'passthrough', 'return', 'route', 'set-priority', 'sniff-pc', 'sniff-tzsp', 'strip-ipv4-options',
];
const RAW_ACTIONS = ['accept', ...TO_LISTS, 'drop', 'jump', 'log', 'notrack', 'passthrough', 'return'];
const IPS = { listOf: 'ip' } as const;
const RATES: Property = { type: { pairOf: 'rate' }, default: '0/0' };
const ADDRESS_OR_POOL = { oneOf: ['ip', { ref: '/ip/pool' }] } as const;

export const EXTRA_MENUS: readonly MenuDefinition[] = [
  {
    path: '/ip/dhcp-client', noun: 'dhcp client', nameProperty: 'interface', unique: { properties: ['interface'], message: 'failure: dhcp-client on that interface already exists' },
    properties: {
      interface: { type: 'interface', required: true }, 'add-default-route': { type: ['no', 'special-classless', 'yes'], default: 'yes' },
      'default-route-distance': { type: DISTANCE, default: '1' }, 'use-peer-dns': flag('true'),
      'use-peer-ntp': flag('true'), 'dhcp-options': fixed('hostname,clientid'), status: { readOnly: true, default: 'searching...' }, address: readOnly, gateway: readOnly, ...FLAGS,
    },
  },
  {
    path: '/ip/dhcp-server/network', noun: 'dhcp network', nameProperty: 'address',
    properties: { 
      address: { type: 'network', required: true }, gateway: { type: IPS }, netmask: { type: { from: 0, to: 32 } }, 'dns-server': { type: IPS },
      'ntp-server': { type: IPS }, domain: {}, dynamic: readOnly, comment,
    },
  },
  {
    path: '/ip/firewall/mangle', ordered: true, noun: 'mangle rule',
    properties: {
      chain: { required: true }, action: { type: MANGLE_ACTIONS, default: 'accept' }, 'new-connection-mark': {}, 'new-packet-mark': {},
      'new-routing-mark': {}, 'new-mss': {}, 'connection-state': { type: { listOf: signed(CONNECTION_STATES) } }, passthrough: { type: 'bool' }, ...mangleMatchers, ...FLAGS,
    },
  },
  {
    path: '/ip/firewall/raw', ordered: true, noun: 'raw rule',
    properties: { chain: { required: true }, action: { type: RAW_ACTIONS, default: 'accept' }, ...mangleMatchers, ...FLAGS },
  },
  {
    path: '/ipv6/address', noun: 'address', nameProperty: 'address',
    properties: { address: { type: 'prefix', required: true }, interface: { type: 'interface', required: true }, 'from-pool': fixed(''), advertise: flag('true'), 'eui-64': flag('false'), ...FLAGS },
  },
  {
    path: '/ppp/secret', noun: 'ppp secret', unique: { properties: ['name'], message: 'failure: secret with the same name already exists' },
    properties: {
      name: { required: true }, password: { default: '', sensitive: true }, 
      service: { type: ['any', 'async', 'l2tp', 'ovpn', 'pppoe', 'pptp', 'sstp'], default: 'any' },
      profile: { type: { ref: '/ppp/profile' }, default: 'default' }, 'local-address': { type: ADDRESS_OR_POOL },
      'remote-address': { type: ADDRESS_OR_POOL }, routes: {}, 'caller-id': fixed(''), 'last-logged-out': readOnly, disabled, comment,
    },
  },
  {
    path: '/queue/simple', ordered: true, noun: 'simple queue', unique: { properties: ['name'], message: 'failure: already have item with such name' },
    properties: {
      name: { required: true }, target: { type: { listOf: 'target' }, required: true }, dst: { type: { oneOf: ['network', 'interface'] } },
      parent: { type: { oneOf: [['none'], { ref: '/queue/simple' }] }, default: 'none' }, 'packet-marks': fixed(''),
      priority: { type: { pairOf: { from: 1, to: 8 } }, default: '8/8' },
      queue: { type: { pairOf: { ref: '/queue/type' } }, default: 'default-small/default-small' },
      'limit-at': RATES, 'max-limit': RATES, 'burst-limit': RATES, 'burst-threshold': RATES,
      'burst-time': { type: { pairOf: 'duration' }, default: '0s/0s' }, bytes: { readOnly: true, default: '0/0' }, time: {}, ...FLAGS,
    },
  },
  {
    path: '/snmp', single: true,
    properties: { enabled: flag('false'), contact: fixed(''), location: fixed(''), 'trap-community': fixed('public'), 'trap-version': fixed('1') },
  },
];
