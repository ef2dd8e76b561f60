import type net from 'node:net';
import type { Clock, Timer } from '../../../../platform/core/clock.ts';
import type { ParsePrelude } from './prelude.ts';

export interface WaitingRoomOptions {
  clock: Clock;
  /** Clients that may wait at the same time, those of all doors together. */
  capacity: number;
  /** How long a client may take to say who it is. */
  timeoutMs: number;
}

/** What became of a client; `reason` is for the log. */
export type Told<T> = { ok: true; value: T } | { ok: false; reason: string };

/** One client that has not said enough yet. */
interface Guest {
  socket: net.Socket;
  party: string;
  /** Takes it out of the room, its socket as it came: paused and with nobody listening. */
  leave: () => void;
}

/**
 * Where clients wait whose first bytes decide what becomes of them. Everyone has the same short time; when the room is
 * full, of the party that has most clients in it the one makes place that has waited longest. Honest clients say at once
 * what they have to say, and a flood from one place pushes out only itself.
 */
export class WaitingRoom {
  readonly #options: WaitingRoomOptions;
  /** Those of each party in the order of their coming. */
  readonly #parties = new Map<string, Set<Guest>>();
  #size = 0;
  #closed = false;

  constructor(options: WaitingRoomOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Reads ahead until `parse` knows. Bytes that it did not use up are put back and the socket is left paused; a socket
   * that is closed meanwhile is nobody's any more, and `told` is not called.
   * @param party whose client it is: of the forward's team, or of the network it comes from as long as no team is known
   * @param socket paused, nothing read of it yet, `allowHalfOpen`
   */
  read<T>(party: string, socket: net.Socket, parse: ParsePrelude<T>, told: (told: Told<T>) => void): void {
    if (this.#closed) socket.resetAndDestroy();
    if (socket.destroyed) return;
    let bytes: Buffer = Buffer.alloc(0);
    const finish = (outcome: Told<T>): void => {
      guest.leave();
      told(outcome);
    };
    const onData = (chunk: Buffer): void => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      const result = parse(bytes);
      if (result.state === 'incomplete') return;
      socket.pause();
      if (result.state === 'refused') return finish({ ok: false, reason: result.reason });
      if (result.length < bytes.length) socket.unshift(bytes.subarray(result.length));
      finish({ ok: true, value: result.value });
    };
    const onEnd = (): void => finish({ ok: false, reason: 'it ended before it said who it is' });
    const guest = this.#admit({ socket, party }, { data: onData, end: onEnd }, () =>
      finish({ ok: false, reason: 'it did not say in time who it is' }),
    );
    socket.resume();
  }

  /** Breaks off everyone who waits, and whoever comes later. */
  close(): void {
    this.#closed = true;
    for (const { socket, leave } of [...this.#parties.values()].flatMap((guests) => [...guests])) {
      leave();
      socket.resetAndDestroy();
    }
  }

  #admit(
    { socket, party }: Pick<Guest, 'socket' | 'party'>,
    on: { data: (chunk: Buffer) => void; end: () => void },
    onLate: () => void,
  ): Guest {
    if (this.#size >= this.#options.capacity) this.#makePlace();
    const leave = (): void => {
      timer.cancel();
      socket.off('data', on.data).off('end', on.end).off('close', leave);
      this.#remove(guest);
    };
    const timer: Timer = this.#options.clock.setTimeout(onLate, this.#options.timeoutMs);
    const guest: Guest = { socket, party, leave };
    this.#parties.set(party, (this.#parties.get(party) ?? new Set()).add(guest));
    this.#size += 1;
    socket.on('data', on.data).on('end', on.end).on('close', leave);
    // The close that follows says all that is needed.
    if (socket.listenerCount('error') === 0) socket.on('error', () => undefined);
    return guest;
  }

  #makePlace(): void {
    const [largest] = [...this.#parties.values()].toSorted((one, other) => other.size - one.size);
    const [eldest] = largest ?? [];
    if (!eldest) return;
    eldest.leave();
    eldest.socket.resetAndDestroy();
  }

  #remove(guest: Guest): void {
    const guests = this.#parties.get(guest.party);
    if (!guests?.delete(guest)) return;
    this.#size -= 1;
    if (guests.size === 0) this.#parties.delete(guest.party);
  }
}
