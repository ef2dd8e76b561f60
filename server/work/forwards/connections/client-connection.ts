import type { ChannelConnection, ConnectionEnd } from '../../../../protocol/index.ts';
import type { ChannelPool } from '../channel-pool.ts';
import type { ClientStream, ConnectionSummary, EndedBy } from '../types.ts';

const END_REASONS: Record<ConnectionEnd, EndedBy> = {
  finished: 'closed',
  local_reset: 'client',
  peer_reset: 'target',
  channel_lost: 'channel',
  cut: 'revoked',
  frozen: 'node_lost',
};

/** One accepted client connection: it waits for a channel, then the channel carries it. */
export class ClientConnection {
  readonly #socket: ClientStream;
  readonly #about: Pick<ConnectionSummary, 'id' | 'source' | 'openedAt'>;
  #connection: ChannelConnection | undefined;
  #cutBecause: EndedBy | undefined;
  #stopWaiting: (() => void) | undefined;
  /** Bytes of both directions at the last check that found more than before, and the time of that check. */
  #seenBytes = 0;
  #idleSince: number;

  /** @param now monotonic milliseconds */
  constructor(socket: ClientStream, about: Pick<ConnectionSummary, 'id' | 'source' | 'openedAt'>, now: number) {
    this.#socket = socket;
    this.#about = about;
    this.#idleSince = now;
  }

  summary(closedAt: number, endedBy: ConnectionSummary['endedBy']): ConnectionSummary {
    return { ...this.#about, closedAt, bytesIn: this.bytesIn, bytesOut: this.bytesOut, endedBy };
  }

  get bytesIn(): number {
    return this.#connection?.bytesSent ?? 0;
  }

  get bytesOut(): number {
    return this.#connection?.bytesReceived ?? 0;
  }

  /** When the connection was last known to be active, as precise as the calls of this method are frequent. */
  idleSince(now: number): number {
    const bytes = this.bytesIn + this.bytesOut;
    if (bytes !== this.#seenBytes) {
      this.#seenBytes = bytes;
      this.#idleSince = now;
    }
    return this.#idleSince;
  }

  start(pool: ChannelPool, closed: (endedBy: EndedBy) => void): void {
    const gone = (): void => {
      pool.cancel(waiter);
      closed(this.#cutBecause ?? 'client');
    };
    const waiter = {
      ready: (connection: ChannelConnection): void => {
        this.#socket.off('close', gone);
        this.#connection = connection;
        connection.whenClosed((end) => closed(end === 'cut' ? (this.#cutBecause ?? 'revoked') : END_REASONS[end]));
        connection.attach(this.#socket);
      },
      gaveUp: (): void => {
        this.#cutBecause ??= 'no_channel';
        this.#socket.resetAndDestroy();
      },
    };
    this.#socket.on('error', () => undefined);
    this.#socket.once('close', gone);
    this.#stopWaiting = () => pool.cancel(waiter);
    pool.request(waiter);
  }

  cut(why: EndedBy): void {
    this.#cutBecause ??= why;
    this.#stopWaiting?.();
    if (this.#connection) this.#connection.cut(why);
    else this.#socket.resetAndDestroy();
  }
}
