import { Channel } from '../../protocol/index.ts';
import { MemberList } from '../../runtime/member-list.ts';
import type { ChannelConnection, ChannelSocket } from '../../protocol/index.ts';
import { atBootTime } from '../core/clock.ts';
import type { Clock, Timer } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { ChannelDials } from './channel-dials.ts';
import type { ChannelEnd, DialChannel, OpenedForward, Way } from './types.ts';

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
  readonly #dials: ChannelDials;
  /** The control plane that asked for the forward last. */
  #home: ChannelEnd = { token: '', url: undefined };
  #maxChannels = 0;
  #expiry: Timer | undefined;

  constructor(options: OpenForwardOptions) {
    this.#options = options;
    this.id = options.id;
    this.router = options.router;
    this.hardwareId = options.hardwareId;
    this.way = options.way;
    this.opened = options.opened;
    this.#dials = new ChannelDials((end) => this.#dialOne(end));
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /**
   * Applies the terms of an opening request, the first or a repeated one, and dials the requested channels.
   * @param terms `endsAt` by `sinceBoot`
   */
  renew(terms: ChannelEnd & { maxChannels: number; endsAt: number; warmChannels: number }): void {
    this.#home = { token: terms.token, url: terms.url };
    this.#maxChannels = terms.maxChannels;
    this.#expiry?.cancel();
    const { clock, onExpired } = this.#options;
    this.#expiry = atBootTime(clock, terms.endsAt, onExpired);
    this.dial(terms.warmChannels);
  }

  /** Dials `count` more channels, up to the limit. @param to the control plane that wants them, if not the one that asked for the forward */
  dial(count: number, to: ChannelEnd = this.#home): void {
    const room = this.#maxChannels - this.#channels.size - this.#dials.size;
    if (!this.#stop.signal.aborted) this.#dials.add(to, Math.min(count, Math.max(0, room)));
  }

  /** Cuts every connection and removes the way from the router. Never rejects. */
  async close(reason: string): Promise<void> {
    this.#expiry?.cancel();
    this.#stop.abort();
    this.#dials.stop();
    for (const connection of this.#connections.members()) connection.cut(reason);
    for (const channel of this.#channels) channel.close(reason);
    await this.way.close();
  }

  /** Never rejects: the control plane requests missing channels again. @returns whether it was dialled */
  async #dialOne({ token, url }: ChannelEnd): Promise<boolean> {
    try {
      await this.#options.dialChannel(token, (socket) => this.#adopt(socket), { signal: this.#stop.signal, url });
      return true;
    } catch (error) {
      this.#options.log.debug({ err: error, forward_id: this.id }, 'a channel could not be dialled');
      return false;
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
