import type { Clock } from '../core/clock.ts';
import type { Listeners } from '../core/listeners.ts';
import type { Log } from '../core/log.ts';
import { Periodic } from '../core/periodic.ts';
import type { Members } from './members.ts';

/** What was missed at the end of a control plane, such as while the database was away, is done within this time. */
const LOOK_EVERY_MS = 30_000;

export interface SettlementOptions {
  cluster: { gone: Pick<Listeners<string>, 'subscribe'>; members: Pick<Members, 'isOwn'> };
  clock: Pick<Clock, 'setTimeout'>;
  log: Log;
  /** Of the records: `sessions`. One control plane looks for them again and again. */
  name: string;
  /**
   * Settles what belongs to control planes that have no row in `nodes` any more, in a statement that may be repeated: several control
   * planes may do it at the same time.
   */
  run: () => Promise<void>;
}

/** Settles records of control planes that were killed: whenever one is noticed, and by a slow look for what was missed. */
export class Settlement {
  readonly #options: SettlementOptions;
  readonly #looks: Periodic;
  #unsubscribe: (() => void) | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: SettlementOptions) {
    this.#options = options;
    const { cluster, clock, log, name, run } = options;
    this.#looks = new Periodic({
      clock,
      log,
      everyMs: LOOK_EVERY_MS,
      failure: failureOf(name),
      run: () => (cluster.members.isOwn(name) ? run() : undefined),
    });
  }

  start(): void {
    this.#unsubscribe = this.#options.cluster.gone.subscribe(() => {
      this.#running = this.#running.then(() => this.#settle());
    });
    this.#looks.start();
  }

  /** Resolves when nothing runs any more. Never rejects. */
  async stop(): Promise<void> {
    this.#unsubscribe?.();
    await this.#looks.stop();
    await this.#running;
  }

  async #settle(): Promise<void> {
    const { run, log, name } = this.#options;
    await run().catch((error: unknown) => log.warn({ err: error }, failureOf(name)));
  }
}

function failureOf(name: string): string {
  return `what a control plane that has ended left open (${name}) could not be settled; it is tried again`;
}
