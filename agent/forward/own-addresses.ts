import { readFileSync } from 'node:fs';
import os from 'node:os';
import ipaddr from 'ipaddr.js';

/** Lifetime of the list, in milliseconds. Interfaces change rarely, and reading `/proc` takes a fraction of a millisecond. */
const READ_AGAIN_MS = 1000;

/** Reads the current addresses of this machine, as addresses or CIDR networks. */
export type ReadOwnAddresses = () => string[];

/**
 * The addresses at which this machine itself answers. Read again after a second, so that a new interface, lease or container network
 * counts without a restart.
 */
export class OwnAddresses {
  readonly #read: ReadOwnAddresses;
  readonly #now: () => number;
  #readAt = Number.NEGATIVE_INFINITY;
  #networks: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [];

  /** @param now milliseconds of a monotonic clock */
  constructor(read: ReadOwnAddresses = readOwnAddresses, now: () => number = () => performance.now()) {
    this.#read = read;
    this.#now = now;
  }

  has(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
    const now = this.#now();
    if (now - this.#readAt >= READ_AGAIN_MS) {
      this.#readAt = now;
      this.#networks = this.#read().flatMap(toNetwork);
    }
    return this.#networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
  }
}

/**
 * The addresses of Node's interfaces, and those that Linux routes to this machine. Node omits local routes and interfaces without a
 * carrier, such as the bridge of a container engine without containers, but both answer.
 */
export function readOwnAddresses(): string[] {
  const ofInterfaces = Object.values(os.networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return [
    ...ofInterfaces.map(({ address }) => address),
    ...localRoutes(textOf('/proc/net/fib_trie')),
    ...interfaceAddresses(textOf('/proc/net/if_inet6')),
  ];
}

/** The LOCAL entries in the kernel's table of IPv4 routes. The address is above the lines with its length and type. */
export function localRoutes(table: string): string[] {
  const found: string[] = [];
  let address = '';
  for (const line of table.split('\n')) {
    const leaf = /\|-- (\S+)/.exec(line);
    const local = /^\s*\/(\d+) host LOCAL/.exec(line);
    if (leaf) address = leaf[1]!;
    else if (local) found.push(`${address}/${local[1]!}`);
  }
  return found;
}

/** 32 hex digits at the beginning of each line. */
export function interfaceAddresses(table: string): string[] {
  return table.split('\n').flatMap((line) => {
    const hex = /^[0-9a-f]{32}/.exec(line)?.[0];
    return hex === undefined ? [] : [hex.replaceAll(/(.{4})(?=.)/g, '$1:')];
  });
}

/** Empty on systems without `/proc`, where Node's interfaces must suffice. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function toNetwork(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number][] {
  const [host = '', bits] = text.split('/');
  // Node and Linux add the interface to link-local addresses.
  const bare = host.split('%')[0]!;
  if (!ipaddr.isValid(bare)) return [];
  const address = ipaddr.process(bare);
  return [[address, bits === undefined ? address.toByteArray().length * 8 : Number(bits)]];
}
