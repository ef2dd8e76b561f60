import { Channel } from '../../../protocol/index.ts';
import type { ChannelConnection, ChannelSocket } from '../../../protocol/index.ts';
import type { Clock, Timer } from '../../platform/core/clock.ts';
import type { ForwardLimits } from './limits.ts';

export interface PoolOptions {
  clock: Clock;
  limits: Pick<ForwardLimits, 'channels' | 'warmChannels' | 'channelWaitMs' | 'dialTimeoutMs' | 'idlePeriodMs'>;
  /** Asks the agent for `count` more channels; false when it is not connected. */
  dial: (count: number) => boolean;
}

/** A connection that needs a channel. Exactly one of the two is called, once, unless the wait is cancelled. */
export interface Waiter {
  ready(connection: ChannelConnection): void;
  gaveUp(): void;
}

/**
 * A forward without a client for so long keeps one free channel: each costs the control plane some 30 kB and the agent as much. The first
 * client takes that one, and its further connections wait for one dial.
 */
export const RESTS_AFTER_MS = 120_000;

/** The largest `count` of a `channel.dial` message (protocol/messages/forwards.ts). */
const MAX_DIAL_COUNT = 256;

/**
 * The channels of one forward. A few are kept free in advance. Their number follows the peak of the last period,
 * so that a web page with sixty parts finds its channels the second time.
 */
export class ChannelPool {
  readonly #options: PoolOptions;
  readonly #channels = new Set<Channel>();
  /** Free channels, last used last. Channels that closed meanwhile are skipped when taken. */
  #free: Channel[] = [];
  readonly #waiting = new Map<Waiter, Timer>();
  /** Channels that were requested and have not arrived. */
  #asked = 0;
  #askTimer: Timer | undefined;
  readonly #busy = new Set<Channel>();
  #busyPeak = 0;
  /** Since when nobody has wanted a connection, milliseconds of monotonic time; undefined while somebody has one. */
  #quietSince: number | undefined;
  #trimTimer: Timer | undefined;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#quietSince = options.clock.monotonic();
    this.#scheduleTrim();
  }

  get size(): number {
    return this.#channels.size;
  }

  get freeCount(): number {
    return this.#free.filter((channel) => channel.free).length;
  }

  /** Adds a channel that the agent has dialled; closes it when there are enough. */
  add(socket: ChannelSocket): void {
    if (this.#asked > 0) this.#asked -= 1;
    const channel: Channel = new Channel(socket, 'opener', {
      onFree: () => this.#becameFree(channel),
      onClosed: () => this.#lost(channel),
    });
    if (this.#closed || this.#channels.size >= this.#options.limits.channels) {
      channel.close('enough channels');
      return;
    }
    this.#channels.add(channel);
    this.#offer(channel);
  }

  /** Another message than `dial` has already asked the agent for `count` channels. */
  expect(count: number): void {
    this.#asked = count;
    // The agent dials them all, and they are not closed at once.
    if (this.#quietSince !== undefined) this.#quietSince = this.#options.clock.monotonic();
    this.#watchDials();
  }

  /** Begins a connection on a free channel, at once or as soon as there is one. */
  request(waiter: Waiter): void {
    this.#quietSince = undefined;
    const channel = this.#takeFree();
    if (channel) {
      this.#begin(channel, waiter);
    } else {
      const timer = this.#options.clock.setTimeout(() => this.#giveUp(waiter), this.#options.limits.channelWaitMs);
      this.#waiting.set(waiter, timer);
    }
    this.#ask();
  }

  cancel(waiter: Waiter): void {
    this.#waiting.get(waiter)?.cancel();
    this.#waiting.delete(waiter);
  }

  /** Cuts every channel and accepts new ones: the agent that dialled them is no longer responsible. */
  drop(reason: string): void {
    this.#free = [];
    for (const channel of this.#channels) channel.terminate(reason);
  }

  /** Cuts the free channels; busy ones stay. The agent has a new tunnel, so channels that it dialled before may be dead. */
  dropFree(reason: string): void {
    for (const channel of this.#free.splice(0)) {
      this.#channels.delete(channel);
      channel.terminate(reason);
    }
  }

  close(reason: string): void {
    this.#closed = true;
    this.#askTimer?.cancel();
    this.#trimTimer?.cancel();
    for (const waiter of this.#waiting.keys()) this.#giveUp(waiter);
    for (const channel of this.#channels) channel.close(reason);
    this.#free = [];
  }

  #takeFree(): Channel | undefined {
    let channel = this.#free.pop();
    while (channel && !channel.free) channel = this.#free.pop();
    return channel;
  }

  #begin(channel: Channel, waiter: Waiter): void {
    const connection = channel.open();
    if (!connection) {
      waiter.gaveUp();
      return;
    }
    this.#busy.add(channel);
    this.#busyPeak = Math.max(this.#busyPeak, this.#busy.size);
    waiter.ready(connection);
  }

  #becameFree(channel: Channel): void {
    this.#busy.delete(channel);
    if (!this.#closed) this.#offer(channel);
  }

  #offer(channel: Channel): void {
    for (const [waiter, timer] of this.#waiting) {
      timer.cancel();
      this.#waiting.delete(waiter);
      this.#begin(channel, waiter);
      return;
    }
    this.#free.push(channel);
  }

  #giveUp(waiter: Waiter): void {
    this.cancel(waiter);
    waiter.gaveUp();
  }

  #lost(channel: Channel): void {
    if (!this.#channels.delete(channel)) return;
    const at = this.#free.indexOf(channel);
    if (at >= 0) this.#free.splice(at, 1);
    this.#busy.delete(channel);
    this.#ask();
  }

  /** Requests a channel for each waiting connection, and refills the free channels once half of them are taken. */
  #ask(): void {
    const { channels } = this.#options.limits;
    const warmChannels = this.#warm;
    if (this.#closed) return;
    const spare = this.#free.length + this.#asked - this.#waiting.size;
    if (spare > warmChannels / 2) return;
    const room = channels - this.#channels.size - this.#asked;
    const count = Math.min(warmChannels - spare, room, MAX_DIAL_COUNT);
    if (count <= 0 || !this.#options.dial(count)) return;
    this.#asked += count;
    this.#watchDials();
  }

  /** A failed dial is not reported. After the time-out it counts as lost and is requested again if still needed. */
  #watchDials(): void {
    this.#askTimer?.cancel();
    this.#askTimer = this.#options.clock.setTimeout(() => {
      this.#asked = 0;
      if (this.#waiting.size > 0) this.#ask();
    }, this.#options.limits.dialTimeoutMs);
  }

  #scheduleTrim(): void {
    this.#trimTimer = this.#options.clock.setTimeout(() => {
      this.#trim();
      this.#scheduleTrim();
    }, this.#options.limits.idlePeriodMs);
  }

  /** How many channels are kept free in advance. */
  get #warm(): number {
    const { clock, limits } = this.#options;
    const rests = this.#quietSince !== undefined && clock.monotonic() - this.#quietSince >= RESTS_AFTER_MS;
    return rests ? Math.min(1, limits.warmChannels) : limits.warmChannels;
  }

  #trim(): void {
    if (this.#busyPeak === 0 && this.#waiting.size === 0) this.#quietSince ??= this.#options.clock.monotonic();
    const needed = this.#busyPeak + this.#warm;
    this.#busyPeak = this.#busy.size;
    const excess = Math.min(this.#channels.size - needed, this.#free.length);
    for (const channel of this.#free.splice(0, Math.max(excess, 0))) {
      this.#channels.delete(channel);
      channel.close('idle');
    }
  }
}
