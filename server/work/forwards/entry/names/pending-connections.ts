import type net from 'node:net';
import type { Clock, Timer } from '../../../../platform/core/clock.ts';
import type { ParsePrelude } from './prelude.ts';

export interface PendingConnectionsOptions {
  clock: Clock;
  /** Pending connections of all entry ports together. */
  capacity: number;
  /** How long a client can take to send its header or ClientHello, milliseconds. */
  timeoutMs: number;
}

/** The result of reading a connection's first bytes; `reason` is for the log. */
export type PreludeOutcome<T> = { ok: true; value: T } | { ok: false; reason: string };

/** A connection whose first bytes are not complete. */
interface PendingConnection {
  socket: net.Socket;
  party: string;
  /** Removes it and restores its socket: paused, without listeners. */
  release: () => void;
}

/**
 * Connections whose first bytes decide where they go. Each has the same short time. When the capacity is reached, the
 * oldest connection of the party with most of them is reset. Honest clients send their first bytes at once, and a flood
 * from one network only displaces its own connections.
 */
export class PendingConnections {
  readonly #options: PendingConnectionsOptions;
  /** The connections of each party in order of arrival. */
  readonly #parties = new Map<string, Set<PendingConnection>>();
  #size = 0;
  #closed = false;

  constructor(options: PendingConnectionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Reads until `parse` has a result. Bytes that it did not consume are put back and the socket is left paused. If the
   * socket closes meanwhile, `done` is not called.
   * @param party the forward's team, or the client's network while the team is unknown
   * @param socket paused, unread, `allowHalfOpen`
   */
  read<T>(party: string, socket: net.Socket, parse: ParsePrelude<T>, done: (outcome: PreludeOutcome<T>) => void): void {
    if (this.#closed) socket.resetAndDestroy();
    if (socket.destroyed) return;
    let bytes: Buffer = Buffer.alloc(0);
    const finish = (outcome: PreludeOutcome<T>): void => {
      connection.release();
      done(outcome);
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
    const onEnd = (): void => finish({ ok: false, reason: 'the connection ended before its first bytes were complete' });
    const connection = this.#add({ socket, party }, { data: onData, end: onEnd }, () =>
      finish({ ok: false, reason: 'the first bytes of the connection did not arrive in time' }),
    );
    socket.resume();
  }

  /** Resets all pending connections and all later ones. */
  close(): void {
    this.#closed = true;
    for (const { socket, release } of [...this.#parties.values()].flatMap((connections) => [...connections])) {
      release();
      socket.resetAndDestroy();
    }
  }

  #add(
    { socket, party }: Pick<PendingConnection, 'socket' | 'party'>,
    on: { data: (chunk: Buffer) => void; end: () => void },
    onLate: () => void,
  ): PendingConnection {
    if (this.#size >= this.#options.capacity) this.#dropOldest();
    const release = (): void => {
      timer.cancel();
      socket.off('data', on.data).off('end', on.end).off('close', release);
      this.#remove(connection);
    };
    const timer: Timer = this.#options.clock.setTimeout(onLate, this.#options.timeoutMs);
    const connection: PendingConnection = { socket, party, release };
    this.#parties.set(party, (this.#parties.get(party) ?? new Set()).add(connection));
    this.#size += 1;
    socket.on('data', on.data).on('end', on.end).on('close', release);
    // The close event follows and is handled.
    if (socket.listenerCount('error') === 0) socket.on('error', () => undefined);
    return connection;
  }

  #dropOldest(): void {
    const [largest] = [...this.#parties.values()].toSorted((one, other) => other.size - one.size);
    const [oldest] = largest ?? [];
    if (!oldest) return;
    oldest.release();
    oldest.socket.resetAndDestroy();
  }

  #remove(connection: PendingConnection): void {
    const connections = this.#parties.get(connection.party);
    if (!connections?.delete(connection)) return;
    this.#size -= 1;
    if (connections.size === 0) this.#parties.delete(connection.party);
  }
}
