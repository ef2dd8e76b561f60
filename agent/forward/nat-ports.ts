import { AgentError } from '../core/errors.ts';
import type { Deadline, RouterAdapter } from '../routers/adapter.ts';
import { usedPorts } from './nat-rules.ts';

/** Ports on which a router listens for the agent: above those of services, users' rules and outgoing connections. */
const FIRST_PORT = 61_000;
const LAST_PORT = 65_535;

/** One port of a router, taken until it is given back. */
export interface NatPort {
  readonly number: number;
  giveBack(): void;
}

/**
 * Allocates the routers' ports for this agent's targets. A port is taken before its rule exists, because forwards open concurrently:
 * with two rules for one port, the upper one would get the connections of both.
 */
export class NatPorts {
  readonly #random: () => number;
  /** By hardware id, because a device may have several names. */
  readonly #taken = new Map<string, Set<number>>();

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** Takes a port that no rule and no other forward uses. @throws AgentError `unsupported` when there is none, … */
  async take(router: RouterAdapter, deadline: Deadline): Promise<NatPort> {
    const isUsed = await usedPorts(router, deadline);
    // No await from here on, so that no other forward can choose the same port.
    const device = router.state().facts?.hardwareId ?? router.name;
    const taken = this.#taken.get(device) ?? new Set();
    const number = this.#choose((port) => isUsed(port) || taken.has(port));
    this.#taken.set(device, taken.add(number));
    return { number, giveBack: () => this.#giveBack(device, number) };
  }

  #choose(isUsed: (port: number) => boolean): number {
    const size = LAST_PORT - FIRST_PORT + 1;
    const start = Math.floor(this.#random() * size);
    for (let i = 0; i < size; i += 1) {
      const port = FIRST_PORT + ((start + i) % size);
      if (!isUsed(port)) return port;
    }
    throw new AgentError('unsupported', 'the router has no free port left');
  }

  #giveBack(device: string, port: number): void {
    const taken = this.#taken.get(device);
    taken?.delete(port);
    if (taken?.size === 0) this.#taken.delete(device);
  }
}
