import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { OwnAddresses } from './own-addresses.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/** Address ranges that are never a destination, regardless of the configuration. */
const NEVER = new Set(['unspecified', 'multicast', 'broadcast']);

/**
 * The destinations that this agent connects to: `forwards.allow` of its configuration. The agent checks them itself, because it is
 * the one inside the network.
 */
export class AllowList {
  readonly #networks: Network[];
  readonly #own: OwnAddresses;

  constructor(cidrs: readonly string[], own: OwnAddresses = new OwnAddresses()) {
    this.#networks = cidrs.map((cidr) => ipaddr.parseCIDR(cidr) as Network);
    this.#own = own;
  }

  /**
   * Why an address is refused now; undefined when it is allowed. Names are refused, because only an address can be checked. Addresses
   * of the agent's own machine must be listed exactly, because services there may trust local connections: a network that includes
   * such an address does not allow it.
   */
  refusal(host: string): string | undefined {
    if (isIP(host) === 0) return `${host} is not an IP address`;
    const address = ipaddr.process(host);
    if (NEVER.has(address.range())) return `${host} is not the address of one host`;
    if (!this.#networks.some((network) => contains(network, address)))
      return `${host} is not in forwards.allow of the agent's configuration`;
    if (isLoopback(address) || !this.#own.has(address) || this.#networks.some((network) => isExactly(network, address))) return undefined;
    return `${host} is an address of the agent's own machine, which forwards.allow of its configuration must list by itself`;
  }
}

/** A wider network does not include loopback: it must be listed explicitly. */
function contains([network, prefix]: Network, address: Address): boolean {
  if (isLoopback(address) && !isLoopback(network)) return false;
  return network.kind() === address.kind() && address.match(network, prefix);
}

function isExactly([network, prefix]: Network, address: Address): boolean {
  return prefix === address.toByteArray().length * 8 && network.kind() === address.kind() && address.match(network, prefix);
}

function isLoopback(address: Address): boolean {
  return address.range() === 'loopback';
}
