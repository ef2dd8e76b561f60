import { MAX_WAITING_BYTES, WAITING_MESSAGE_OVERHEAD } from '../../../protocol/index.ts';
import { SerialQueue } from '../../../runtime/serial-queue.ts';

interface Reader {
  pause(): void;
  resume(): void;
}

export type QueueName = 'ordered' | 'facts';

/**
 * Messages of one agent that wait for the database, in two serial queues: `ordered` (hello, ready, jobs) and `facts`
 * (inventory). When too many bytes wait, reading from the agent pauses until half of them are handled, to bound memory.
 */
export class Intake {
  readonly #reader: Reader;
  readonly #ordered: SerialQueue;
  readonly #facts: SerialQueue;
  #waiting = 0;
  #paused = false;

  constructor(reader: Reader, onError: (error: unknown, queue: QueueName) => void) {
    this.#reader = reader;
    this.#ordered = new SerialQueue((error) => onError(error, 'ordered'));
    this.#facts = new SerialQueue((error) => onError(error, 'facts'));
  }

  /** Resolves when everything pushed into this queue so far is done. */
  done(queue: QueueName): Promise<void> {
    return this.#queue(queue).idle;
  }

  /** @param bytes length of the message on the wire, counted against the limit */
  push(queue: QueueName, bytes: number, work: () => Promise<void>): void {
    const weight = bytes + WAITING_MESSAGE_OVERHEAD;
    this.#add(weight);
    this.#queue(queue).push(async () => {
      try {
        await work();
      } finally {
        this.#add(-weight);
      }
    });
  }

  #queue(name: QueueName): SerialQueue {
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
