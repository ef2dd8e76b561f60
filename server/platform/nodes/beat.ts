import { AppError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { Periodic } from '../core/periodic.ts';
import { systemClock } from '../core/clock.ts';
import type { Storage } from '../storage/db.ts';
import { BEAT_EVERY_MS } from './claim.ts';
import { deleteNode, raiseBeat } from './store.ts';

export interface BeatDeps {
  storage: Storage;
  log: Log;
  /** Of this control plane. */
  id: string;
  /** Another control plane has taken the database over, because this one was silent for too long. It must end without another write. */
  onReplaced: (error: AppError) => void;
}

/** Says every 2 s that this control plane lives, until it has stopped. While the database is away nobody else can start either. */
export class Beat {
  readonly #deps: BeatDeps;
  readonly #beats: Periodic;
  #isReplaced = false;

  constructor(deps: BeatDeps) {
    this.#deps = deps;
    this.#beats = new Periodic({
      // Real time also in tests with a clock of their own: another process waits for the beat.
      clock: systemClock,
      log: deps.log,
      everyMs: BEAT_EVERY_MS,
      failure: 'could not tell the database that this control plane lives; trying again',
      run: () => this.#beat(),
    });
  }

  start(): void {
    this.#beats.start();
  }

  /** Lets the next control plane start at once. */
  async stop(): Promise<void> {
    await this.#beats.stop();
    const { storage, id } = this.#deps;
    if (!this.#isReplaced) await storage.writes.write((tx) => deleteNode(tx, { id }));
  }

  async #beat(): Promise<void> {
    if (this.#isReplaced) return;
    const { storage, id, onReplaced } = this.#deps;
    if (await storage.writes.write((tx) => raiseBeat(tx, id))) return;
    this.#isReplaced = true;
    onReplaced(new AppError('conflict', 'another control plane has taken over the database, because this one was silent for over 10 s'));
  }
}
