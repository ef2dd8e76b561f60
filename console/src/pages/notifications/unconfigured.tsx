import type { NotificationChannel } from '../../../../client/browser.ts';
import { useRecord } from '../../data/use-record.ts';
import { channelName, words } from './words.ts';

type Channel = NotificationChannel['channel'];

/** @returns what is known of a channel by which nothing can be sent; undefined of one that works, or until it is known */
export function useUnconfigured(): (channel: Channel) => NotificationChannel | undefined {
  const { data } = useRecord('notification-channels', 'listNotificationChannels', {});
  return (channel) => data?.channels.find((one) => one.channel === channel && !one.configured);
}

/** Says that nothing can be sent by a channel, and which settings the operator gives it; nothing where it works. */
export function Unconfigured({ channel }: { channel: Channel }) {
  const found = useUnconfigured()(channel);
  if (found === undefined) return null;
  return (
    <p className="c-away unconfigured" role="note">
      {words.unconfigured(channelName(channel), found.settings)}
    </p>
  );
}
