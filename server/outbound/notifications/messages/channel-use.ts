import type { Channels } from '../channels/set.ts';
import type { Channel, ChannelName } from '../channels/types.ts';

/** Undefined when this control plane does not have the channel. */
export function limitsOf(channels: Channels, name: string): Channel['limits'] | undefined {
  return channels[name as ChannelName]?.limits;
}
