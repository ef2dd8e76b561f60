import type { Entry, EventType } from './types.ts';

/**
 * The latest events of one team, so that a reader who was away for a moment misses nothing. An id is
 * `<origin>.<number>`: the origin is another after a crash, so that an id of an earlier life is never mistaken for one
 * of this.
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

  /** What another ring can go on from. */
  get kept(): { origin: string; last: number; entries: Entry[] } {
    return { origin: this.#origin, last: this.#last, entries: this.#entries.slice(-this.#limit) };
  }

  /** Id of the newest event; before the first one, of the beginning. */
  get position(): string {
    return `${this.#origin}.${this.#last}`;
  }

  add(type: EventType, data: object): Entry {
    this.#last += 1;
    const entry = { number: this.#last, type, text: eventText(this.position, type, data) };
    this.#entries.push(entry);
    // In blocks, so that an event costs the same with a large ring as with a small one.
    if (this.#entries.length >= this.#limit * 2) this.#entries = this.#entries.slice(-this.#limit);
    return entry;
  }

  /** What came after an id; undefined when that cannot be known any more. */
  after(id: string): Entry[] | undefined {
    const match = /^(.+)\.(\d{1,15})$/.exec(id);
    if (match?.[1] !== this.#origin) return undefined;
    const number = Number(match[2]);
    const oldest = this.#entries[0]?.number ?? this.#last + 1;
    if (number > this.#last || number < oldest - 1) return undefined;
    return this.#entries.slice(number - oldest + 1);
  }
}

/** One event in the form of the HTML standard's event streams. JSON holds no line breaks. */
export function eventText(id: string, type: string, data: object): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
