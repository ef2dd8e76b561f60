import { formatClock, formatRecent, parseDuration } from '../../formats.ts';
import type { CustomCommand, MenuDefinition, Property } from '../definition.ts';
import { Trap } from '../types.ts';
import { comment, disabled, fixed, flag, readOnly } from './parts.ts';

const lease = (name: string): Property => ({ readOnly: true, ...(name === 'age' ? { since: '7.0' } : {}) });
const LIVE_LEASE = [
  'status',
  'age',
  'expires-after',
  'last-seen',
  'active-address',
  'active-mac-address',
  'active-client-id',
  'active-server',
  'host-name',
  'radius',
];

const RARE_LEASE: Readonly<Record<string, Property>> = {
  'lease-time': { type: 'duration' },
  'rate-limit': {},
  'dhcp-option-set': {},
  'use-src-mac': { type: 'bool' },
  'always-broadcast': { type: 'bool' },
  'insert-queue-before': {},
  'parent-queue': { since: '7.0' },
  'queue-type': { since: '7.0' },
  'allow-dual-stack-queue': { type: 'bool' },
  routes: { since: '7.13' },
};

const makeStatic: CustomCommand = {
  parameters: ['numbers'],
  run({ table, call }) {
    for (const id of (call.attributes.get('.id') ?? call.attributes.get('numbers') ?? '').split(',')) {
      const item = table.byId(id);
      if (!item) throw new Trap('no such item', 0);
      if (!item.dynamic) throw new Trap('failure: already static');
      const values = new Map(item.values);
      table.remove(item);
      table.add(values);
    }
    return { rows: [] };
  },
};

const logCommand = (topic: string): CustomCommand => ({
  parameters: ['message'],
  policies: ['write'],
  run({ router, call }) {
    router.log(`script,${topic}`, call.attributes.get('message') ?? '');
    return { rows: [] };
  },
});

/** From 7.17 only yes and auto are taken; before it is a plain switch. */
const cloudSwitch: Readonly<Record<string, Property>> = { 'ddns-enabled': { type: ['yes', 'auto'], default: 'auto' } };

const sshCommon = {
  'host-key-type': { type: ['rsa', 'ed25519'] as const, default: 'rsa', since: '7.9' },
  'host-key-size': { type: 'int' as const, default: '2048' },
  'strong-crypto': flag('false'),
  'allow-none-crypto': { ...flag('false'), until: '7.17' },
  ciphers: { default: 'auto', since: '7.17' },
  'always-allow-password-login': { ...flag('false'), until: '7.21' },
  'password-authentication': { type: ['yes', 'no', 'yes-if-no-key'] as const, default: 'yes-if-no-key', since: '7.21' },
  'publickey-authentication-options': { default: 'none', since: '7.21' },
  'forwarding-enabled': { type: ['no', 'local', 'remote', 'both'] as const, default: 'no' },
};

export const SERVICE_MENUS: readonly MenuDefinition[] = [
  {
    path: '/ip/service',
    without: ['add', 'remove'],
    noun: 'service',
    properties: {
      name: readOnly,
      port: { type: 'ports' },
      address: { type: 'addresses', default: '' },
      certificate: {},
      'tls-version': {},
      vrf: { since: '7.0' },
      'max-sessions': { since: '7.16' },
      invalid: readOnly,
      dynamic: { readOnly: true, since: '7.16' },
      disabled,
    },
  },
  { path: '/ip/ssh', single: true, properties: sshCommon },
  {
    path: '/ip/cloud',
    single: true,
    since: '7.17',
    properties: {
      ...cloudSwitch,
      'ddns-update-interval': fixed('none'),
      'update-time': flag('true'),
      'back-to-home-vpn': { readOnly: true, default: 'revoked-and-disabled' },
      'public-address': readOnly,
      'dns-name': readOnly,
      status: readOnly,
    },
  },
  {
    path: '/ip/cloud',
    single: true,
    until: '7.17',
    properties: {
      'ddns-enabled': flag('false'),
      'ddns-update-interval': fixed('none'),
      'update-time': flag('true'),
      'back-to-home-vpn': { readOnly: true, default: 'revoked-and-disabled', since: '7.15' },
      'public-address': readOnly,
      'dns-name': readOnly,
      status: readOnly,
    },
  },
  {
    path: '/ip/dhcp-server',
    noun: 'dhcp server',
    unique: { properties: ['name'], message: 'failure: dhcp server with such name already exists' },
    properties: {
      name: { required: true },
      interface: { type: 'interface', required: true },
      'address-pool': { type: { oneOf: [['static-only'], { ref: '/ip/pool' }] }, default: 'static-only' },
      'lease-time': { type: 'duration', default: '30m' },
      invalid: readOnly,
      dynamic: readOnly,
      disabled,
      comment: { since: '7.0' },
    },
  },
  {
    path: '/ip/dhcp-server/lease',
    noun: 'dhcp lease',
    nameProperty: 'address',
    removableDynamic: true,
    properties: {
      address: { type: { oneOf: ['ip', { ref: '/ip/pool' }] }, required: true },
      'mac-address': { type: 'mac' },
      'client-id': {},
      'address-lists': fixed(''),
      server: fixed('all'),
      'dhcp-option': fixed(''),
      ...Object.fromEntries(LIVE_LEASE.map((name) => [name, lease(name)])),
      'block-access': { ...flag('false'), writeOnly: true },
      ...RARE_LEASE,
      blocked: readOnly,
      dynamic: readOnly,
      disabled,
      comment,
    },
    // The v6 API writes this one duration with colons.
    compute: (router, item) => {
      const ms = router.version.major < 7 ? parseDuration(item.values.get('expires-after') ?? 'never') : undefined;
      return ms === undefined ? [] : [['expires-after', formatClock(ms)]];
    },
    check({ values, item, given }) {
      if (!item && !given.has('.remove'))
        for (const [name, value] of [
          ['status', 'waiting'],
          ['last-seen', 'never'],
          ['radius', 'false'],
          ['blocked', 'false'],
        ] as const)
          values.set(name, value);
    },
    custom: { 'make-static': makeStatic },
  },
  {
    path: '/log',
    limit: 1000,
    noExport: true,
    volatile: true,
    without: ['add', 'set', 'remove', 'unset'],
    properties: { time: readOnly, topics: readOnly, message: readOnly, 'extra-info': { readOnly: true, since: '7.0' } },
    compute: (router, item) => [
      ['time', formatRecent(router.version, Number(item.values.get('.at')), router.clock.wallMs())],
      ['extra-info', ''],
    ],
    custom: { info: logCommand('info'), warning: logCommand('warning'), error: logCommand('error'), debug: logCommand('debug') },
  },
];
