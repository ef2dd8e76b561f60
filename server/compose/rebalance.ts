import type { Clock } from '../platform/core/clock.ts';
import type { Listeners } from '../platform/core/listeners.ts';
import type { Log } from '../platform/core/log.ts';
import { Periodic } from '../platform/core/periodic.ts';
import { surplus } from '../platform/nodes/spread.ts';
import type { RequestHolder, TunnelRegistry } from '../platform/tunnel/registry.ts';

/** Agents that one control plane gives away together, and how often: 5 a second, so that nobody notices. */
const SLICE = { agents: 5, everyMs: 1000 };
/** After a member has come or gone, or begins or ends to drain, agents still find their places by themselves. */
const SETTLES_MS = 60_000;
/** After so many the number must have fallen by a tenth of them; otherwise they come back, and it rests. */
const LOOKS_AFTER = 100;
const RESTS_MS = 3_600_000;

interface Deps {
  clock: Pick<Clock, 'monotonic' | 'setTimeout'>;
  log: Log;
  tunnels: Pick<TunnelRegistry, 'sendAway' | 'size'>;
  requests: RequestHolder;
  /** Agents of the other control planes that take work; undefined while this one takes none itself. */
  others: () => readonly number[] | undefined;
  /** Published when a member has come or gone, or begins or ends to drain. */
  changes: Pick<Listeners<unknown>, 'subscribe'>;
}

/** Since when it gives agents away. */
interface Giving {
  /** How many it had. */
  from: number;
  sent: number;
}

/** Gives agents to control planes that have fewer, slowly. A member that has just started would otherwise have none until agents reconnect. */
export class Rebalance {
  readonly #deps: Deps;
  readonly #slices: Periodic;
  readonly #unsubscribe: () => void;
  #startsAt: number;
  #giving: Giving | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
    const { clock, log, changes } = deps;
    this.#startsAt = clock.monotonic() + SETTLES_MS;
    this.#unsubscribe = changes.subscribe(() => this.#waitFor(SETTLES_MS));
    this.#slices = new Periodic({
      clock,
      log,
      everyMs: SLICE.everyMs,
      failure: 'agents could not be given to control planes that have fewer',
      run: () => this.#giveSome(),
    });
  }

  start(): void {
    this.#slices.start();
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    await this.#slices.stop();
  }

  #waitFor(ms: number): void {
    this.#giving = undefined;
    this.#startsAt = Math.max(this.#startsAt, this.#deps.clock.monotonic() + ms);
  }

  #giveSome(): void {
    const { clock, log, tunnels, requests, others } = this.#deps;
    const counts = others();
    if (!counts || clock.monotonic() < this.#startsAt) return;
    const left = surplus({ own: tunnels.size, others: counts }, this.#giving !== undefined);
    if (left === 0) return this.#end();
    if (!this.#giving) log.info({ count: left }, 'giving agents to control planes that have fewer');
    this.#giving ??= { from: tunnels.size, sent: 0 };
    if (comesBack(this.#giving, tunnels.size)) {
      log.warn(
        { count: this.#giving.sent },
        'agents that were given to other control planes came back: the load balancer does not lead them there. The next attempt is in an hour',
      );
      return this.#waitFor(RESTS_MS);
    }
    this.#giving.sent += tunnels.sendAway(Math.min(left, SLICE.agents), requests);
  }

  #end(): void {
    if (this.#giving) this.#deps.log.info({ count: this.#giving.sent }, 'the control planes have about as many agents each');
    this.#giving = undefined;
  }
}

function comesBack({ from, sent }: Giving, now: number): boolean {
  return sent >= LOOKS_AFTER && from - now < sent / 10;
}
