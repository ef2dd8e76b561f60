import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../platform/core/log.ts';
import type { Beat } from '../platform/nodes/beat.ts';
import { setNodeState } from '../platform/nodes/store.ts';
import type { Storage } from '../platform/storage/db.ts';
import type { RequestHolder, TunnelRegistry } from '../platform/tunnel/registry.ts';

interface Deps {
  nodeId: string;
  storage: Storage;
  beat: Pick<Beat, 'drain' | 'drains' | 'isDraining'>;
  tunnels: Pick<TunnelRegistry, 'drain' | 'size'>;
  requests: RequestHolder;
  /** Until the load balancer has seen that `/readyz` fails, milliseconds. */
  balancerMs: number;
  log: Log;
}

/**
 * Gives the agents of this control plane to others, when it is to stop or when someone has asked for it in the database. From the first
 * moment `/readyz` fails; agents are sent away once the load balancer knows.
 */
export class Drain {
  readonly #deps: Deps;
  readonly #unsubscribe: () => void;
  #handingOver: { done: Promise<void>; stop: AbortController } | undefined;
  #refusesTunnels = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#unsubscribe = deps.beat.drains.subscribe((isDraining) => this.#onChange(isDraining));
  }

  /** Agents that dial shall dial again, and find another control plane. */
  get refusesTunnels(): boolean {
    return this.#refusesTunnels;
  }

  /** For a stop. Resolves when the agents are gone. Never rejects. */
  async run(): Promise<void> {
    const { storage, nodeId, beat, log } = this.#deps;
    beat.drain();
    await storage.writes
      .write((tx) => setNodeState(tx, nodeId, 'draining'))
      .catch((error: unknown) => log.warn({ err: error }, 'the other control planes could not be told that this one stops'));
    await this.#handingOver?.done;
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    this.#handingOver?.stop.abort();
    await this.#handingOver?.done;
  }

  #onChange(isDraining: boolean): void {
    this.#handingOver?.stop.abort();
    this.#refusesTunnels = false;
    this.#handingOver = undefined;
    if (!isDraining) {
      this.#deps.log.info({}, 'this control plane takes new work again');
      return;
    }
    const stop = new AbortController();
    this.#handingOver = { stop, done: this.#handOver(stop.signal) };
  }

  /** Never rejects. */
  async #handOver(signal: AbortSignal): Promise<void> {
    const { tunnels, requests, balancerMs, log } = this.#deps;
    log.info({ count: tunnels.size }, 'giving the agents to other control planes');
    await pause(balancerMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    this.#refusesTunnels = true;
    await tunnels.drain(signal, requests);
    if (!signal.aborted) log.info({}, 'all agents have been sent to other control planes');
  }
}
