import type { Channels } from './set.ts';
import type { ChannelName } from './types.ts';

/** Settings of the operator (docs/settings.md) without which a channel cannot be used. */
const SETTINGS: Record<ChannelName, readonly string[]> = {
  email: ['SIGNALBOX_SMTP_URL', 'SIGNALBOX_MAIL_FROM'],
  webhook: [],
  slack: [],
  teams: [],
  telegram: ['SIGNALBOX_TELEGRAM_TOKEN_FILE'],
  pagerduty: [],
  ntfy: [],
  gotify: [],
  whatsapp: ['SIGNALBOX_WHATSAPP_PHONE_NUMBER_ID', 'SIGNALBOX_WHATSAPP_TOKEN_FILE'],
  sms: ['SIGNALBOX_SMS_ACCOUNT', 'SIGNALBOX_SMS_TOKEN_FILE', 'SIGNALBOX_SMS_FROM'],
  web_push: [],
};

export const CHANNEL_NAMES = Object.keys(SETTINGS) as ChannelName[];

/** A channel, and whether this control plane can send by it. */
export interface OfferedChannel {
  channel: ChannelName;
  isConfigured: boolean;
  settings: readonly string[];
}

/** Every channel that there is. */
export function offeredChannels(channels: Channels): OfferedChannel[] {
  return CHANNEL_NAMES.map((channel) => ({ channel, isConfigured: channels[channel] !== undefined, settings: SETTINGS[channel] }));
}

/** Why nothing can be sent by a channel that is not configured, for whoever tries: it names what the operator has to set. */
export function notConfigured(channel: ChannelName): string {
  return `this control plane cannot send by ${channel}; its operator has to configure it by ${SETTINGS[channel].join(', ')}`;
}
