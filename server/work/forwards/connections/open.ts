import type { Clock } from '../../../platform/core/clock.ts';
import type { Log } from '../../../platform/core/log.ts';
import { Periodic } from '../../../platform/core/periodic.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { closeInterruptedConnections, writeOpenConnections } from './store.ts';
import type { LoggedConnection } from './store.ts';

export interface OpenConnectionsDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  /** How often new open connections are stored, milliseconds. */
  flushMs: number;
  /** This control plane, of several. */
  nodeId?: string | undefined;
  /** The connections that this process carries now. */
  open: () => Iterable<LoggedConnection>;
}

/** The row of an open connection is updated this often: after a crash its counts are at most this old. */
const REWRITE_MS = 60_000;

/** As long as finished connections are kept (limits.ts), because the control plane may have been down for a while. */
const LOOK_BACK_MS = 30 * 24 * 3_600_000;

/**
 * Stores connections while they are open, so that the log also lists those that were open when the control plane was
 * killed: their rows say `open`, and `unknown` after the next start.
 */
export class OpenConnections {
  readonly #deps: OpenConnectionsDeps;
  /** When each of them was stored last. */
  #written = new Map<string, number>();
  readonly #writes: Periodic;

  constructor(deps: OpenConnectionsDeps) {
    this.#deps = deps;
    this.#writes = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: deps.flushMs,
      failure: 'open connections of forwards could not be stored',
      run: () => this.#write(),
    });
  }

  /** Call it before the first connection of this process. @throws a storage error */
  async start(): Promise<void> {
    await this.settle();
    this.#writes.start();
  }

  /** Ends the rows of control planes that were killed. Those of others that count, of several, stay. @throws a storage error */
  async settle(): Promise<void> {
    const { storage, clock, nodeId } = this.#deps;
    await storage.writes.write((tx) => closeInterruptedConnections(tx, clock.now() - LOOK_BACK_MS, nodeId !== undefined));
  }

  /** Resolves when the write under way is done. */
  async stop(): Promise<void> {
    await this.#writes.stop();
  }

  async #write(): Promise<void> {
    const now = this.#deps.clock.now();
    const known = new Map<string, number>();
    const due: LoggedConnection[] = [];
    for (const connection of this.#deps.open()) {
      const writtenAt = this.#written.get(connection.id) ?? -Infinity;
      const isDue = now - writtenAt >= REWRITE_MS;
      if (isDue) due.push(connection);
      known.set(connection.id, isDue ? now : writtenAt);
    }
    if (due.length > 0) await this.#deps.storage.writes.write((tx) => writeOpenConnections(tx, due, this.#deps.nodeId ?? null));
    this.#written = known;
  }
}
