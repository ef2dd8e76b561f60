import { MAX_WAITING_BYTES, WAITING_MESSAGE_OVERHEAD } from '../../../protocol/index.ts';
import { SerialQueue } from '../../../runtime/serial-queue.ts';

interface Reader {
  pause(): void;
  resume(): void;
}

export type LaneName = 'ordered' | 'facts';

/**
 * Messages of one agent that wait for the database, in two lanes: `ordered` (hello, ready, jobs) and `facts`
 * (inventory). When too much waits, the agent is not read until half of it is done, so that memory stays bounded.
 */
export class Intake {
  readonly #reader: Reader;
  readonly #ordered: SerialQueue;
  readonly #facts: SerialQueue;
  #waiting = 0;
  #paused = false;

  constructor(reader: Reader, onError: (error: unknown, lane: LaneName) => void) {
    this.#reader = reader;
    this.#ordered = new SerialQueue((error) => onError(error, 'ordered'));
    this.#facts = new SerialQueue((error) => onError(error, 'facts'));
  }

  /** Settles when everything pushed into this lane so far is done. */
  done(lane: LaneName): Promise<void> {
    return this.#lane(lane).idle;
  }

  /** `bytes`: length of the message on the wire, for the bound. */
  push(lane: LaneName, bytes: number, work: () => Promise<void>): void {
    const weight = bytes + WAITING_MESSAGE_OVERHEAD;
    this.#add(weight);
    this.#lane(lane).push(async () => {
      try {
        await work();
      } finally {
        this.#add(-weight);
      }
    });
  }

  #lane(name: LaneName): SerialQueue {
    return name === 'ordered' ? this.#ordered : this.#facts;
  }

  #add(weight: number): void {
    this.#waiting += weight;
    if (!this.#paused && this.#waiting > MAX_WAITING_BYTES) {
      this.#paused = true;
      this.#reader.pause();
    } else if (this.#paused && this.#waiting <= MAX_WAITING_BYTES / 2) {
      this.#paused = false;
      this.#reader.resume();
    }
  }
}
