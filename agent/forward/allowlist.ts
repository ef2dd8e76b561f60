import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { OwnAddresses } from './own-addresses.ts';

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
  readonly #own: OwnAddresses;

  constructor(cidrs: readonly string[], own: OwnAddresses = new OwnAddresses()) {
    this.#networks = cidrs.map((cidr) => ipaddr.parseCIDR(cidr) as Network);
    this.#own = own;
  }

  /**
   * Why an address may not be reached now; undefined when it may. Names are refused: only an address can be judged.
   * The agent's own machine must be named as such, because what listens there trusts its own network: a network that
   * merely includes one of its addresses does not open it.
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

/** Loopback must be listed as such: a network that merely includes it does not count. */
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
