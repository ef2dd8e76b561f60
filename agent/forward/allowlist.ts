import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/** Never the address of one service, whatever the configuration says. */
const NEVER = new Set(['unspecified', 'multicast', 'broadcast']);

/**
 * Which destinations this agent opens connections to: `forwards.allow` of its configuration. The control plane's word
 * is not enough, because it is the agent that stands inside the network.
 */
export class AllowList {
  readonly #networks: Network[];

  constructor(cidrs: readonly string[]) {
    this.#networks = cidrs.map((cidr) => ipaddr.parseCIDR(cidr) as Network);
  }

  /** Why an address may not be reached; undefined when it may. Names are refused: only an address can be judged. */
  refusal(host: string): string | undefined {
    if (isIP(host) === 0) return `${host} is not an IP address`;
    const address = ipaddr.process(host);
    if (NEVER.has(address.range())) return `${host} is not the address of one host`;
    const allowed = this.#networks.some((network) => contains(network, address));
    return allowed ? undefined : `${host} is not in forwards.allow of the agent's configuration`;
  }
}

/** Loopback is the agent's own machine: it must be listed as such, a network that merely includes it does not count. */
function contains([network, prefix]: Network, address: Address): boolean {
  if (address.range() === 'loopback' && network.range() !== 'loopback') return false;
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, prefix);
  return network instanceof ipaddr.IPv6 && address.match(network, prefix);
}
