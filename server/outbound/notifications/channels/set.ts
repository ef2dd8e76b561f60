import type { Address, Channel, ChannelName, OutgoingMessage, SendResult } from './types.ts';

/** The channels that this control plane can use: some need an account of the operator. */
export type Channels = { readonly [N in ChannelName]?: Channel<N> };

/** Which messages share a rate with those to this address; null for a channel that this control plane does not have. */
export function bucketOfAddress(channels: Channels, address: Address): string | null {
  const channel: Channel | undefined = channels[address.channel];
  return channel?.bucketOf(address) ?? null;
}

/** Sends by the channel of the address. Never rejects. */
export async function sendTo(channels: Channels, message: OutgoingMessage, address: Address, signal: AbortSignal): Promise<SendResult> {
  // TypeScript takes this for any channel; the one that is found by the address's name takes this address.
  const channel: Channel | undefined = channels[address.channel];
  if (!channel) return { outcome: 'config', error: 'not_configured', detail: '' };
  return channel.send(message, address, signal);
}
