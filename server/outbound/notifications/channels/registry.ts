import type { Address, Channel, ChannelName, OutgoingMessage, SendResult } from './types.ts';

/** The channels of this installation. Those that need an account of the operator are missing until it is configured. */
export class Channels {
  readonly #channels: ReadonlyMap<ChannelName, Channel>;
  readonly #close: () => Promise<void>;

  /** @param close ends what the channels share */
  constructor(channels: readonly Channel[], close: () => Promise<void>) {
    this.#channels = new Map(channels.map((channel) => [channel.name, channel]));
    this.#close = close;
  }

  get names(): ChannelName[] {
    return [...this.#channels.keys()];
  }

  has(name: ChannelName): boolean {
    return this.#channels.has(name);
  }

  /** Messages with the same bucket share the rate of {@link limitsOf}. Not a secret. */
  bucketOf({ channel, ...address }: Address): string {
    return this.#channels.get(channel)?.bucketOf(address) ?? channel;
  }

  limitsOf(name: ChannelName): Channel['limits'] | undefined {
    return this.#channels.get(name)?.limits;
  }

  /** One attempt. Never rejects. @param signal ends it when this process stops */
  async send(message: OutgoingMessage, { channel, ...address }: Address, signal: AbortSignal): Promise<SendResult> {
    const found = this.#channels.get(channel);
    if (found === undefined) return { outcome: 'config', error: 'not_configured', detail: '' };
    return found.send(message, address, signal);
  }

  close(): Promise<void> {
    return this.#close();
  }
}
