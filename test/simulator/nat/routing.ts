import { arrivingAt } from '../firewall.ts';
import { decidingRule, outInterfaceFor, type Packet } from '../rules.ts';
import type { Item } from '../menu/table.ts';
import type { RouterState } from '../state.ts';

/** Where a connection to one of the router's ports goes. */
export type Destination =
  | { kind: 'forward'; rule: Item; host: string; port: number; printed: { dst: string; replySrc: string } }
  /** No rule takes it: the router's own closed port answers with a reset. */
  | { kind: 'refused' }
  /** Dropped on the way, or the target's answer goes elsewhere. */
  | { kind: 'lost' };

const NAT_VERDICTS = new Set(['accept', 'dst-nat', 'redirect', 'netmap', 'src-nat', 'masquerade', 'same']);
const FORWARD_VERDICTS = new Set(['accept', 'drop', 'reject', 'tarpit', 'fasttrack-connection']);

/** Asks dstnat, then the forward chain, then srcnat, in the order a packet meets them. */
export function routeConnection(router: RouterState, remote: string, port: number): Destination {
  const remoteAddress = remote.replace(/^::ffff:/, '');
  const packet = arrivingAt(router, port, { remoteAddress, state: 'new' });
  const rule = decidingRule(router, '/ip/firewall/nat', 'dstnat', packet, (action) => NAT_VERDICTS.has(action));
  const action = rule?.values.get('action');
  if (!rule || action === 'accept') return { kind: 'refused' };
  const address =
    action === 'redirect' ? router.options.managementAddress : (rule.values.get('to-addresses') ?? router.options.managementAddress);
  const toPort = Number(rule.values.get('to-ports')?.split('-')[0] ?? port);
  const onward: Packet = {
    ...packet,
    dstAddress: address,
    dstPort: toPort,
    outInterface: outInterfaceFor(router, address),
    dstNatted: true,
  };
  const forwardRule = decidingRule(router, '/ip/firewall/filter', 'forward', onward, (name) => FORWARD_VERDICTS.has(name));
  const verdict = forwardRule?.values.get('action') ?? 'accept';
  if (verdict === 'drop' || verdict === 'tarpit') return { kind: 'lost' };
  if (verdict === 'reject') return { kind: 'refused' };
  const host = router.resolveHost(address);
  if (!host.routesBack && !isHidden(router, onward)) return { kind: 'lost' };
  const here = address === router.options.managementAddress ? router.options.host : host.address;
  return {
    kind: 'forward',
    rule,
    host: here,
    port: toPort,
    printed: { dst: `${packet.dstAddress}:${port}`, replySrc: `${address}:${toPort}` },
  };
}

/** A target that answers through another gateway only does so when the router puts its own address in front. */
function isHidden(router: RouterState, packet: Packet): boolean {
  const rule = decidingRule(router, '/ip/firewall/nat', 'srcnat', packet, (action) => NAT_VERDICTS.has(action));
  return ['masquerade', 'src-nat', 'same'].includes(rule?.values.get('action') ?? '');
}
