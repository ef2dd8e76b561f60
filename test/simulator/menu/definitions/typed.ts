/** The menus that are tables, joined to the little that some of them do. */
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { MenuDefinition, ProposedChange } from '../definition.ts';
import { readMenuTables } from '../menu-tables.ts';
import { INTERFACE_PARTS_TABLES, INTERFACE_TABLES } from '../tables/interfaces.ts';
import { NETWORK_TABLES } from '../tables/network.ts';
import { SYSTEM_TABLES } from '../tables/system.ts';
import { monitor } from '../monitoring.ts';
import { Trap } from '../types.ts';
import { interfaceMenu } from './interfaces.ts';
import { sendMail } from './mail.ts';

/** What `/interface` calls the kinds whose menu is called otherwise. */
const INTERFACE_TYPES: Readonly<Record<string, string>> = {
  bonding: 'bond',
  gre: 'gre-tunnel',
  ipip: 'ipip-tunnel',
  'pppoe-client': 'pppoe-out',
  'l2tp-client': 'l2tp-out',
  'sstp-client': 'sstp-out',
  'ovpn-client': 'ovpn-out',
  wireguard: 'wg',
  wireless: 'wlan',
};

const kindOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Bytes before an X25519 key in its DER form (RFC 8410). */
const PKCS8_START = Buffer.from('302e020100300506032b656e04220420', 'hex');
const DEFAULT_WIREGUARD_PORT = 13_231;

/** A WireGuard interface makes its keys itself unless it gets one; the public one always follows from the private. */
function completeWireguard({ values, given, item, table }: ProposedChange): void {
  if (given.has('.remove')) return;
  if (!values.has('private-key')) values.set('private-key', newPrivateKey());
  values.set('public-key', publicKeyOf(values.get('private-key') ?? ''));
  let port = DEFAULT_WIREGUARD_PORT;
  while (table.items.some((other) => other !== item && other.values.get('listen-port') === String(port))) port += 1;
  if (!values.has('listen-port')) values.set('listen-port', String(port));
}

function newPrivateKey(): string {
  return generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'der' }).subarray(PKCS8_START.length).toString('base64');
}

function publicKeyOf(privateKey: string): string {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_START, Buffer.from(privateKey, 'base64')]), format: 'der', type: 'pkcs8' });
  return Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64');
}

function isStanding({ item, given }: ProposedChange): void {
  if (given.has('.remove') && item?.values.get('builtin') === 'true') throw new Trap('failure: can not remove default item');
}

/** Adds what the menu's own check does after the one it has already. */
function alsoCheck(menu: MenuDefinition, check: (change: ProposedChange) => void): MenuDefinition {
  return {
    ...menu,
    check: (change) => {
      menu.check?.(change);
      check(change);
    },
  };
}

/** A modem as set on the interface by a test: `rsrp` and `registration-status`. */
const modem = monitor(['numbers', 'number'], ({ router, call }) => {
  const reference = call.attributes.get('.id') ?? call.attributes.get('numbers') ?? call.attributes.get('number') ?? '';
  const item = router.table('/interface').byId(reference) ?? router.table('/interface').find('name', reference);
  if (!item) throw new Trap('no such item', 0);
  const told = ['registration-status', 'rsrp'].flatMap((name) => {
    const value = item.values.get(`.${name}`);
    return value === undefined ? [] : [[name, value] as const];
  });
  return [new Map([['status', 'running'], ...told])];
});

const interfaces = readMenuTables(INTERFACE_TABLES, {
  '/interface/lte': { custom: { monitor: { ...modem, since: '7.0' }, info: { ...modem, until: '7.0' } } },
}).map((menu) => {
  const kind = kindOf(menu.path);
  const made = interfaceMenu(menu, INTERFACE_TYPES[kind] ?? kind);
  return kind === 'wireguard' ? alsoCheck(made, completeWireguard) : made;
});

function withStanding(menus: readonly MenuDefinition[]): MenuDefinition[] {
  return menus.map((menu) => (menu.entries ? alsoCheck(menu, isStanding) : menu));
}

export const TYPED_INTERFACE_MENUS: readonly MenuDefinition[] = [...interfaces, ...withStanding(readMenuTables(INTERFACE_PARTS_TABLES))];

/** Before the menus that refer to them: profiles, tables and queue types. */
export const TYPED_NETWORK_MENUS: readonly MenuDefinition[] = withStanding(
  readMenuTables(NETWORK_TABLES, {
    '/ip/dns/cache': { custom: { flush: { parameters: [], policies: ['write'], run: () => ({ rows: [] }) } } },
  }),
);

export const TYPED_SYSTEM_MENUS: readonly MenuDefinition[] = withStanding(
  readMenuTables(SYSTEM_TABLES, { '/tool/e-mail': { custom: { send: sendMail } } }),
);
