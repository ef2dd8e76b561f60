/** How firewall and NAT rules are matched against a packet, as far as a connection's first packet goes. */
import { matchesAddress, matchesPort } from './addresses.ts';
import type { Item } from './menu/table.ts';
import type { RouterState } from './state.ts';

export interface Packet {
  protocol: 'tcp';
  srcAddress: string;
  dstAddress: string;
  dstPort: number;
  inInterface: string | undefined;
  outInterface: string | undefined;
  state: 'new' | 'established';
  /** The packet was redirected by a dst-nat rule before. */
  dstNatted: boolean;
}

type Matcher = (rule: string, packet: Packet, router: RouterState) => boolean;

/** A rule's value against one of the packet's, with the `!` every matcher may have. */
const negatable =
  (matches: Matcher): Matcher =>
  (rule, packet, router) =>
    rule.startsWith('!') ? !matches(rule.slice(1), packet, router) : matches(rule, packet, router);

const MATCHERS: Readonly<Record<string, Matcher>> = {
  protocol: negatable((rule, packet) => rule === packet.protocol || rule === '6'),
  'src-address': (rule, packet) => matchesAddress(rule, packet.srcAddress),
  'dst-address': (rule, packet) => matchesAddress(rule, packet.dstAddress),
  'dst-port': (rule, packet) => matchesPort(rule, packet.dstPort),
  port: (rule, packet) => matchesPort(rule, packet.dstPort),
  'in-interface': negatable((rule, packet) => rule === packet.inInterface),
  'out-interface': negatable((rule, packet) => rule === packet.outInterface),
  'in-interface-list': negatable((rule, packet, router) => isMember(router, rule, packet.inInterface)),
  'out-interface-list': negatable((rule, packet, router) => isMember(router, rule, packet.outInterface)),
  'src-address-list': negatable((rule, packet, router) => isListed(router, rule, packet.srcAddress)),
  'dst-address-list': negatable((rule, packet, router) => isListed(router, rule, packet.dstAddress)),
  'connection-state': negatable((rule, packet) => rule.split(',').includes(packet.state)),
  'connection-nat-state': negatable((rule, packet) => rule.split(',').includes(packet.dstNatted ? 'dstnat' : 'none')),
  'dst-address-type': negatable((rule) => rule === 'local'),
};

/** Properties that decide nothing about a match. */
export const NOT_MATCHERS = new Set([
  'chain',
  'action',
  'to-addresses',
  'to-ports',
  'comment',
  'disabled',
  'log',
  'log-prefix',
  'bytes',
  'packets',
  'jump-target',
  'reject-with',
  'address-list',
  'address-list-timeout',
  'hw-offload',
  'randomise-ports',
]);

export function matchesRule(router: RouterState, rule: Item, packet: Packet): boolean {
  if (rule.values.get('disabled') === 'true') return false;
  for (const [name, value] of rule.values) {
    if (NOT_MATCHERS.has(name)) continue;
    // A matcher unknown here (layer7, content, …) never matches a connection's first packet.
    const matcher = MATCHERS[name];
    if (!matcher || !matcher(value, packet, router)) return false;
  }
  return true;
}

/** First rule of the chain that decides, following jumps; undefined when none does. */
export function decidingRule(
  router: RouterState,
  menu: string,
  chain: string,
  packet: Packet,
  isVerdict: (action: string) => boolean,
  depth = 0,
): Item | undefined {
  if (depth > 10) return undefined;
  for (const rule of router.table(menu).items) {
    if (rule.values.get('chain') !== chain || !matchesRule(router, rule, packet)) continue;
    const action = rule.values.get('action') ?? 'accept';
    if (action === 'return') return undefined;
    const target = action === 'jump' ? rule.values.get('jump-target') : undefined;
    const inside = target === undefined ? undefined : decidingRule(router, menu, target, packet, isVerdict, depth + 1);
    if (inside) return inside;
    if (isVerdict(action)) return rule;
  }
  return undefined;
}

function isMember(router: RouterState, list: string, name: string | undefined): boolean {
  if (list === 'all') return true;
  const members = router.table('/interface/list/member').items;
  return members.some(({ values }) => values.get('list') === list && values.get('interface') === name && values.get('disabled') !== 'true');
}

function isListed(router: RouterState, list: string, address: string): boolean {
  const entries = router.table('/ip/firewall/address-list').items;
  return entries.some(
    ({ values }) =>
      values.get('list') === list && values.get('disabled') !== 'true' && matchesAddress(values.get('address') ?? '', address),
  );
}

/** Interface over which the router reaches an address: that of a connected network, else the default route's. */
export function outInterfaceFor(router: RouterState, address: string): string | undefined {
  const direct = router.table('/ip/address').items.find(({ values }) => matchesAddress(networkText(values), address));
  if (direct) return direct.values.get('interface');
  const gateway = router.table('/ip/route').find('dst-address', '0.0.0.0/0')?.values.get('gateway');
  return gateway === undefined || gateway === address ? undefined : outInterfaceFor(router, gateway);
}

function networkText(values: ReadonlyMap<string, string>): string {
  const bits = (values.get('address') ?? '').split('/')[1] ?? '32';
  return `${values.get('network') ?? ''}/${bits}`;
}
