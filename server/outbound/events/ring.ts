import type { Entry, EventType } from './types.ts';

/**
 * The latest events of one team, so that a reader who was briefly disconnected misses nothing. An id is
 * `<origin>.<number>`. The origin changes after a crash, so that an id from before it is never mistaken for a current
 * one.
 */
export class EventRing {
  readonly #origin: string;
  readonly #limit: number;
  #entries: Entry[];
  #last: number;

  constructor(origin: string, limit: number, { last, entries }: { last: number; entries: Entry[] } = { last: 0, entries: [] }) {
    this.#origin = origin;
    this.#limit = limit;
    this.#last = last;
    this.#entries = entries;
  }

  /** The state from which another ring can continue. */
  get kept(): { origin: string; last: number; entries: Entry[] } {
    return { origin: this.#origin, last: this.#last, entries: this.#entries.slice(-this.#limit) };
  }

  /** Id of the newest event; before the first event, the id of the start. */
  get position(): string {
    return `${this.#origin}.${this.#last}`;
  }

  /** @param data its JSON */
  add(type: EventType, data: string): Entry {
    this.#last += 1;
    const entry = { number: this.#last, type, text: eventText(this.position, type, data) };
    this.#entries.push(entry);
    // Trimmed in blocks, so that the cost per event does not depend on the size of the ring.
    if (this.#entries.length >= this.#limit * 2) this.#entries = this.#entries.slice(-this.#limit);
    return entry;
  }

  /** Events after an id; undefined when they are no longer known. */
  after(id: string): Entry[] | undefined {
    const match = /^(.+)\.(\d{1,15})$/.exec(id);
    if (match?.[1] !== this.#origin) return undefined;
    const number = Number(match[2]);
    const oldest = this.#entries[0]?.number ?? this.#last + 1;
    if (number > this.#last || number < oldest - 1) return undefined;
    return this.#entries.slice(number - oldest + 1);
  }
}

/** One event in the event-stream format of the HTML standard. @param data JSON without line breaks */
export function eventText(id: string, type: string, data: string): string {
  return `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;
}

/** An event without a position: the reader's last id stays. */
export function passingText(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
