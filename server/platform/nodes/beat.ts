import { AppError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { Periodic } from '../core/periodic.ts';
import { systemClock } from '../core/clock.ts';
import type { Storage } from '../storage/db.ts';
import { BEAT_EVERY_MS } from './claim.ts';
import { deleteNode, raiseBeat } from './store.ts';

/** Of its connection. A beat that gets no answer is given up early enough for another one within the 10 s. */
export const BEAT_LIMITS = { connections: 1, statementMs: 2000, answerMs: 500 };

export interface BeatDeps {
  /** Its own: the connections of the control plane may all be busy for longer than a beat may be late. */
  storage: Storage;
  log: Log;
  /** Of this control plane. */
  id: string;
  /** Another control plane has taken the database over, because this one was silent for too long. It must end without another write. */
  onReplaced: (error: AppError) => void;
}

/** Says every 2 s that this control plane lives, until it has stopped. Closes its connection then. While the database is away nobody else can start either. */
export class Beat {
  readonly #deps: BeatDeps;
  readonly #beats: Periodic;
  #isReplaced = false;
  /** The last beat failed, and the log says so. */
  #isFailing = false;

  constructor(deps: BeatDeps) {
    this.#deps = deps;
    this.#beats = new Periodic({
      // Real time also in tests with a clock of their own: another process waits for the beat.
      clock: systemClock,
      log: deps.log,
      everyMs: BEAT_EVERY_MS,
      failure: 'the beat of this control plane ended',
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
    try {
      if (!this.#isReplaced) await deleteNode(storage.db, { id });
    } finally {
      await storage.close();
    }
  }

  /** Never rejects: the next beat tries again. */
  async #beat(): Promise<void> {
    if (this.#isReplaced) return;
    const { storage, id, log, onReplaced } = this.#deps;
    try {
      // One statement without a transaction: nothing of it is undone when its answer is lost.
      const isStored = await raiseBeat(storage.db, id);
      this.#isFailing = false;
      if (isStored) return;
    } catch (error) {
      if (!this.#isFailing) log.warn({ err: error, component: 'storage' }, 'could not tell the database that this control plane lives');
      this.#isFailing = true;
      return;
    }
    this.#isReplaced = true;
    onReplaced(new AppError('conflict', 'another control plane has taken over the database, because this one was silent for over 10 s'));
  }
}
