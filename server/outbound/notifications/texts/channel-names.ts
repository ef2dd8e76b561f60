import type { ChannelName } from '../channels/types.ts';

/** Names of products and standards, which are the same in every language; each catalogue has the others. */
const PROPER = {
  slack: 'Slack',
  teams: 'Microsoft Teams',
  telegram: 'Telegram',
  pagerduty: 'PagerDuty',
  ntfy: 'ntfy',
  gotify: 'Gotify',
  whatsapp: 'WhatsApp',
  sms: 'SMS',
} as const satisfies Partial<Record<ChannelName, string>>;

/** Channels without a name of their own. */
export type PlainChannel = Exclude<ChannelName, keyof typeof PROPER>;

/** As people call a channel. @param plain words of their language */
export function channelWord(channel: string, plain: Record<PlainChannel, string>): string {
  const words: Readonly<Record<string, string>> = { ...PROPER, ...plain };
  return Object.hasOwn(words, channel) ? words[channel]! : channel;
}
