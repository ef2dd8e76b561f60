import { Channel } from '../../protocol/index.ts';
import { MemberList } from '../../runtime/member-list.ts';
import type { ChannelConnection, ChannelSocket } from '../../protocol/index.ts';
import { atBootTime } from '../core/clock.ts';
import type { Clock, Timer } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { DialChannel, OpenedForward, Way } from './types.ts';

export interface OpenForwardOptions {
  id: string;
  router: string;
  /** Hardware id of the forward's device. */
  hardwareId: string;
  way: Way;
  opened: OpenedForward;
  dialChannel: DialChannel;
  clock: Clock;
  log: Log;
  /** Called before every connection. @returns why it is refused; undefined when it is allowed */
  refusal: () => string | undefined;
  onExpired: () => void;
}

/** Longest wait for the target of one connection, about that of browsers. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Concurrent channel dials. The rest wait, so that a burst does not starve the tunnel. */
const PARALLEL_DIALS = 16;

/** One open forward on the agent: its way, its channels and the connections on them. */
export class OpenForward {
  readonly id: string;
  readonly router: string;
  readonly hardwareId: string;
  readonly way: Way;
  readonly opened: OpenedForward;
  readonly #options: OpenForwardOptions;
  readonly #channels = new Set<Channel>();
  readonly #connections = new MemberList<ChannelConnection>();
  readonly #stop = new AbortController();
  #token = '';
  #maxChannels = 0;
  #expiry: Timer | undefined;
  /** Channels still to dial, and dials in progress. */
  #wanted = 0;
  #dialling = 0;

  constructor(options: OpenForwardOptions) {
    this.#options = options;
    this.id = options.id;
    this.router = options.router;
    this.hardwareId = options.hardwareId;
    this.way = options.way;
    this.opened = options.opened;
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /**
   * Applies the terms of an opening request, the first or a repeated one, and dials the requested channels.
   * @param terms `endsAt` by `sinceBoot`
   */
  renew(terms: { token: string; maxChannels: number; endsAt: number; warmChannels: number }): void {
    this.#token = terms.token;
    this.#maxChannels = terms.maxChannels;
    this.#expiry?.cancel();
    const { clock, onExpired } = this.#options;
    this.#expiry = atBootTime(clock, terms.endsAt, onExpired);
    this.dial(terms.warmChannels);
  }

  /** Dials `count` more channels, up to the limit. */
  dial(count: number): void {
    const room = this.#maxChannels - this.#channels.size - this.#dialling - this.#wanted;
    this.#wanted += Math.min(count, Math.max(0, room));
    while (this.#wanted > 0 && this.#dialling < PARALLEL_DIALS && !this.#stop.signal.aborted) {
      this.#wanted -= 1;
      this.#dialling += 1;
      void this.#dialOne();
    }
  }

  /** Cuts every connection and removes the way from the router. Never rejects. */
  async close(reason: string): Promise<void> {
    this.#expiry?.cancel();
    this.#stop.abort();
    this.#wanted = 0;
    for (const connection of this.#connections.members()) connection.cut(reason);
    for (const channel of this.#channels) channel.close(reason);
    await this.way.close();
  }

  /** Never rejects: the control plane requests missing channels again. */
  async #dialOne(): Promise<void> {
    try {
      await this.#options.dialChannel(this.#token, (socket) => this.#adopt(socket), { signal: this.#stop.signal });
    } catch (error) {
      this.#options.log.debug({ err: error, forward_id: this.id }, 'a channel could not be dialled');
      // The waiting dials would fail for the same reason.
      this.#wanted = 0;
    } finally {
      this.#dialling -= 1;
      this.dial(0);
    }
  }

  #adopt(socket: ChannelSocket): void {
    const channel: Channel = new Channel(socket, 'accepter', {
      onConnection: (connection) => this.#carry(connection),
      onClosed: () => this.#channels.delete(channel),
    });
    this.#channels.add(channel);
    if (this.#stop.signal.aborted) channel.close('the forward is over');
  }

  /** Does not block the receive handler: the connection keeps bytes that arrive before the target is connected. */
  #carry(connection: ChannelConnection): void {
    const refusal = this.#stop.signal.aborted ? 'the forward is over' : this.#options.refusal();
    if (refusal !== undefined) {
      connection.cut(refusal);
      return;
    }
    const remove = this.#connections.add(connection);
    if (this.way.connectNow) {
      connection.whenClosed(remove);
      connection.attach(this.way.connectNow({ timeoutMs: CONNECT_TIMEOUT_MS }));
    } else {
      void this.#carryLater(connection, remove);
    }
  }

  /** Never rejects. Stops connecting to the target when the connection ends. */
  async #carryLater(connection: ChannelConnection, remove: () => void): Promise<void> {
    const gone = new AbortController();
    connection.whenClosed(() => {
      remove();
      gone.abort();
    });
    try {
      connection.attach(await this.way.connect({ timeoutMs: CONNECT_TIMEOUT_MS, signal: gone.signal }));
    } catch (error) {
      connection.cut(error instanceof Error ? error.message : 'the target could not be reached');
    }
  }
}
