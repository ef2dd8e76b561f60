import type { AppError } from '../platform/core/errors.ts';
import { newId } from '../platform/core/ids.ts';
import { systemClock } from '../platform/core/clock.ts';
import type { Log } from '../platform/core/log.ts';
import type { RunningServer } from './running-server.ts';

/** One incarnation of this control plane: its records are those of this id. */
export interface Incarnation {
  nodeId: string;
  signal: AbortSignal;
  /** The others do not count on this incarnation any more. Nothing that it writes from then on is stored (platform/nodes/write-fence.ts). */
  onReplaced: (error: AppError) => void;
  /** The port that the first one has; undefined for the first one. */
  port: number | undefined;
}

interface Deps {
  start: (incarnation: Incarnation) => Promise<RunningServer>;
  log: Log;
  signal: AbortSignal | undefined;
  /** It could not start again and has ended. */
  onLost: (error: unknown) => void;
}

/**
 * One of several control planes, which the others may take for dead although it lives: it was frozen, or cut off from the database. It then
 * closes its doors and its tunnels and starts again with a new id, in the same process and on the same port.
 */
export class RejoiningServer implements RunningServer {
  readonly #deps: Deps;
  readonly #stopping = new AbortController();
  #current: RunningServer | undefined;
  /** Of the incarnation that starts or runs. */
  #nodeId = newId(systemClock.now());
  #isReplaced = false;
  #rejoining: Promise<void> = Promise.resolve();

  private constructor(deps: Deps) {
    this.#deps = deps;
    deps.signal?.addEventListener('abort', () => this.#stopping.abort(), { once: true });
    if (deps.signal?.aborted) this.#stopping.abort();
  }

  /** @throws what the first start throws */
  static async start(deps: Deps): Promise<RejoiningServer> {
    const server = new RejoiningServer(deps);
    server.#current = await server.#start(undefined);
    // The others were faster than the start.
    if (server.#isReplaced) server.#rejoin();
    return server;
  }

  get url(): string {
    return this.#running.url;
  }

  get sandboxUrl(): string | null {
    return this.#running.sandboxUrl;
  }

  /** Those of the present incarnation. */
  get services(): RunningServer['services'] {
    return this.#running.services;
  }

  async reload(): Promise<void> {
    await this.#current?.reload();
  }

  async drain(): Promise<void> {
    await this.#rejoining;
    await this.#current?.drain();
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#rejoining;
    await this.#current?.close();
  }

  get #running(): RunningServer {
    if (!this.#current) throw new Error('the control plane has not started');
    return this.#current;
  }

  #start(port: number | undefined): Promise<RunningServer> {
    const nodeId = this.#nodeId;
    return this.#deps.start({ nodeId, signal: this.#stopping.signal, onReplaced: (error) => this.#onReplaced(nodeId, error), port });
  }

  #onReplaced(nodeId: string, error: AppError): void {
    if (nodeId !== this.#nodeId) return;
    this.#deps.log.error({ err: error, component: 'storage' }, 'starting again with a new id');
    this.#nodeId = newId(systemClock.now());
    this.#isReplaced = true;
    if (this.#current) this.#rejoin();
  }

  /** The former incarnation ends first: its ports are needed. */
  #rejoin(): void {
    this.#isReplaced = false;
    this.#rejoining = this.#rejoining.then(async () => {
      const former = this.#running;
      await former.close();
      if (this.#stopping.signal.aborted) return;
      this.#current = await this.#start(Number(new URL(former.url).port));
      if (this.#isReplaced) this.#rejoin();
    });
    this.#rejoining = this.#rejoining.catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) this.#deps.onLost(error);
    });
  }
}
