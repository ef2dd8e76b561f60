import { readFileSync } from 'node:fs';
import os from 'node:os';
import ipaddr from 'ipaddr.js';

/** A connection to a target may come a moment after an interface has changed; reading `/proc` takes a fraction of a millisecond. */
const READ_AGAIN_MS = 1000;

/** Reads the addresses of this machine anew. An address stands for itself, a CIDR for each address in it. */
export type ReadOwnAddresses = () => string[];

/**
 * The addresses at which this machine itself answers. They are read again after a second, so a new interface, a new
 * lease or a changed container network counts without a restart.
 */
export class OwnAddresses {
  readonly #read: ReadOwnAddresses;
  readonly #now: () => number;
  #readAt = Number.NEGATIVE_INFINITY;
  #networks: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [];

  /** @param now milliseconds of a clock that nobody sets */
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
 * What Node knows of the interfaces, and what Linux itself routes to this machine: Node leaves out interfaces without a
 * carrier, like the bridge of a container engine that runs no container, and local routes, and both answer.
 */
export function readOwnAddresses(): string[] {
  const ofInterfaces = Object.values(os.networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return [
    ...ofInterfaces.map(({ address }) => address),
    ...localRoutes(textOf('/proc/net/fib_trie')),
    ...interfaceAddresses(textOf('/proc/net/if_inet6')),
  ];
}

/** The entries of type LOCAL in the kernel's table of IPv4 routes: the address stands above its lines of length and type. */
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

/** Empty on systems without `/proc`: the interfaces that Node tells of count there. */
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
