import type { Clock } from '../../platform/core/clock.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import type { Storage, Tx } from '../../platform/storage/db.ts';
import { closeLostSessions, closeOpenSessions, selectLastRun, selectLatestRun, upsertRun } from './store.ts';
import type { FormerRun, KnownRuns, ServerRun } from './types.ts';

/** Precision of the end of a killed control plane. One row, 43,000 small writes a day. */
const ALIVE_EVERY_MS = 2000;

interface Deps {
  storage: Storage;
  clock: Clock;
  log: Log;
  /** This control plane, where several serve the database. */
  nodeId?: string | undefined;
}

/**
 * The times in which a control plane ran. Time in which none ran is unknown: neither up nor down. A step of the clock also ends
 * a run: the time that it skips is in no run. Where several serve the database each has runs of its own, which overlap. What they say of their
 * lives goes with their beats.
 */
export class ServerRuns implements KnownRuns {
  readonly #deps: Deps;
  readonly #alive: Periodic;
  #run: ServerRun | undefined;
  #former: FormerRun | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#alive = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: ALIVE_EVERY_MS,
      failure: 'the sign of life of the control plane could not be stored',
      run: () => this.#store({ alive_at: deps.clock.now() }),
    });
  }

  /** The run before this one; undefined for the first. Known after {@link start}. */
  get former(): FormerRun | undefined {
    return this.#former;
  }

  get currentId(): string | undefined {
    return this.#run?.id;
  }

  /** Ends the sessions that an earlier run left open, and not those of others that run. */
  async start(): Promise<void> {
    const { storage, clock, nodeId } = this.#deps;
    const last = await (nodeId === undefined ? selectLastRun : selectLatestRun)(storage.db);
    this.#former = last && endOf(last);
    const now = clock.now();
    const run = this.#newRun(now);
    await storage.writes.write(async (tx) => {
      if (nodeId !== undefined) await closeLostSessions(tx, this.#former?.endedAt ?? now);
      else if (this.#former) await closeOpenSessions(tx, this.#former);
      await upsertRun(tx, run);
    });
    this.#run = run;
    if (nodeId === undefined) this.#alive.start();
  }

  /** The present run, which goes on; undefined before the start. */
  alive(): Pick<ServerRun, 'id' | 'alive_at'> | undefined {
    return this.#run && { id: this.#run.id, alive_at: this.#deps.clock.now() };
  }

  /** Ends the sessions that other control planes left open when they were killed. Of no effect the second time. */
  async settle(): Promise<void> {
    const { storage, clock } = this.#deps;
    await storage.writes.write((tx) => closeLostSessions(tx, clock.now()));
  }

  /** After everything else of the history has been written. Never rejects. */
  async stop(): Promise<void> {
    await this.#alive.stop();
    const now = this.#deps.clock.now();
    await this.#store({ alive_at: now, stopped_at: now }).catch((error: unknown) =>
      this.#deps.log.warn({ err: error }, 'the stop of the control plane could not be stored'),
    );
  }

  /** The wall clock was set by `stepMs` at `now`, by the time from before. @returns to be called when it is stored */
  async onClockStep(tx: Tx, stepMs: number, now: number): Promise<() => void> {
    if (!this.#run) return () => undefined;
    const next = this.#newRun(now + stepMs);
    await upsertRun(tx, { ...this.#run, alive_at: now, stopped_at: now });
    await upsertRun(tx, next);
    return () => {
      this.#run = next;
    };
  }

  #newRun(now: number): ServerRun {
    return { id: newId(now), started_at: now, alive_at: now, stopped_at: null, node_id: this.#deps.nodeId ?? null };
  }

  async #store(change: Partial<ServerRun>): Promise<void> {
    if (!this.#run) return;
    this.#run = { ...this.#run, ...change };
    const run = this.#run;
    await this.#deps.storage.writes.write((tx) => upsertRun(tx, run));
  }
}

function endOf({ alive_at: aliveAt, stopped_at: stoppedAt }: ServerRun): FormerRun {
  return stoppedAt === null ? { endedAt: aliveAt, endedBy: 'unknown' } : { endedAt: stoppedAt, endedBy: 'server_stopped' };
}
