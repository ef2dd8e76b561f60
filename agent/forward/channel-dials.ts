import type { ChannelEnd } from './types.ts';

/** Concurrent channel dials to one control plane. The rest wait, so that a burst does not starve the tunnel. */
const PARALLEL_DIALS = 16;

/** What one control plane still gets. */
interface Destination {
  end: ChannelEnd;
  waiting: number;
  dialling: number;
}

/** The channel dials of one forward, for each control plane that wants channels: one that does not answer does not hold up the others. */
export class ChannelDials {
  readonly #dial: (end: ChannelEnd) => Promise<boolean>;
  /** By address. Only those with dials, so the limit of channels bounds them. */
  readonly #destinations = new Map<string | undefined, Destination>();
  #isStopped = false;

  /** @param dial resolves when a dial is over, with whether it succeeded; never rejects */
  constructor(dial: (end: ChannelEnd) => Promise<boolean>) {
    this.#dial = dial;
  }

  /** Channels still to dial, and dials in progress. */
  get size(): number {
    let size = 0;
    for (const { waiting, dialling } of this.#destinations.values()) size += waiting + dialling;
    return size;
  }

  /** Dials `count` more channels. A newer token of the same control plane replaces its former one. */
  add(end: ChannelEnd, count: number): void {
    if (count <= 0 || this.#isStopped) return;
    const destination = this.#destinations.get(end.url) ?? { end, waiting: 0, dialling: 0 };
    this.#destinations.set(end.url, destination);
    destination.end = end;
    destination.waiting += count;
    this.#next(destination);
  }

  /** Nothing is dialled any more. Dials in progress are their owner's. */
  stop(): void {
    this.#isStopped = true;
    for (const destination of this.#destinations.values()) destination.waiting = 0;
  }

  #next(destination: Destination): void {
    while (destination.waiting > 0 && destination.dialling < PARALLEL_DIALS) {
      destination.waiting -= 1;
      destination.dialling += 1;
      void this.#dial(destination.end).then((isDialled) => this.#dialled(destination, isDialled));
    }
    if (destination.dialling === 0) this.#destinations.delete(destination.end.url);
  }

  #dialled(destination: Destination, isDialled: boolean): void {
    destination.dialling -= 1;
    // The waiting dials would fail for the same reason.
    if (!isDialled) destination.waiting = 0;
    this.#next(destination);
  }
}
