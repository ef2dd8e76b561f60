import type { GroupReach, NotificationGroup, NotificationTarget } from '../../../../client/browser.ts';

export const words = {
  tabs: 'Notifications',
  /** The parts of the notifications, as their tabs and pages are called. */
  part: {
    groups: 'Groups',
    threads: 'Threads',
    log: 'Log',
    why: 'Why',
    channels: 'Channels',
    topics: 'Topics',
    schedules: 'Schedules',
    silences: 'Silences',
    own: 'My addresses',
  },
  unconfigured: (channel: string, settings: readonly string[]) =>
    `This control plane cannot send by ${channel} yet. Its operator sets ${settings.join(', ')}.`,
  checkList: { filter: 'Filter', name: 'Name', chosen: (count: number) => `${count} chosen` },
} as const;

type Channel = NotificationGroup['notifiables'][number]['channel'] | NotificationTarget['channel'] | 'web_push';

const CHANNELS: Record<Channel, string> = {
  email: 'email',
  sms: 'text message',
  whatsapp: 'WhatsApp',
  telegram: 'Telegram',
  web_push: 'browser',
  push: 'browser',
  slack: 'Slack',
  teams: 'Microsoft Teams',
  webhook: 'webhook',
  pagerduty: 'PagerDuty',
  ntfy: 'ntfy',
  gotify: 'Gotify',
};

/** A channel as people call it: `text message`. */
export function channelName(channel: string): string {
  return (CHANNELS as Record<string, string | undefined>)[channel] ?? channel;
}

/** A target as a sentence names it: `Slack #noc`. */
export function targetName({ name, channel }: Pick<NotificationTarget, 'name' | 'channel'>): string {
  const kind = channelName(channel);
  return name.toLowerCase().includes(kind.toLowerCase()) ? name : `${kind} ${name}`;
}

const OFF: Record<string, string> = {
  switched_off: 'switched off by its owner',
  unsubscribed: 'unsubscribed by a link in a message',
  bounced: 'the mail server says that there is no such mailbox',
  gone: 'the receiver says that it is gone',
  blocked: 'the receiver has blocked the messages',
  no_account: 'there is no account with this number',
  key_refused: 'the receiver refuses the key',
};

/** Why nothing is sent to a confirmed address any more. */
export function offWords(reason: string): string {
  return OFF[reason] ?? reason.replaceAll('_', ' ');
}

const SEND_ERRORS: Record<string, string> = {
  timed_out: 'it did not answer in time',
  name_not_found: 'its name was not found',
  connect_failed: 'it takes no connection',
  tls_failed: 'the encrypted connection failed',
  connection_lost: 'the connection was lost',
  answer_invalid: 'its answer makes no sense',
  url_refused: 'the address may not be used',
  address_refused: 'the address may not be used',
  rate_limited: 'it takes no more messages for now',
  unavailable: 'it is out of order',
  refused: 'it refused the message',
  gone: 'it says that the address is gone',
  unauthorized: 'it refused the key or token',
  redirected: 'it answered with another address',
  too_large: 'the message was too large',
  signing_failed: 'the message could not be signed',
  undelivered: 'it took the message and could not deliver it',
  not_configured: 'the operator has not configured this channel',
  password_unreadable: 'the control plane cannot read its password',
};

/** Why a receiver did not take a message: `it refused the message`. */
export function sendErrorWords(error: string): string {
  return SEND_ERRORS[error] ?? error.replaceAll('_', ' ');
}

/** `a`, `a and b`, `a, b and c`, `a, b, c and 9 more`. */
export function listed(names: readonly string[], most = 4): string {
  const shown = names.length > most ? [...names.slice(0, most - 1), `${names.length - most + 1} more`] : names;
  return shown.length < 2 ? (shown[0] ?? '') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)!}`;
}

/** As the beginning of a sentence. */
export function upper(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

const MISSING: Record<string, string> = {
  email: 'They have no email address.',
  sms: 'They have no number for text messages.',
  whatsapp: 'They have no number for WhatsApp.',
  telegram: 'They have no chat with the bot.',
  web_push: 'They have no browser that shows notifications.',
};

interface ReachWords {
  word: string;
  /** What helps, and who can do it. */
  help: string;
}

/** Why a line of a group reaches an address or none. */
export function reachWords({ state, channel, user_id: userId }: GroupReach): ReachWords {
  const isPerson = userId !== null;
  switch (state) {
    case 'reached':
      return { word: 'reached', help: '' };
    case 'no_address':
      return isPerson
        ? {
            word: 'no address',
            help: `${MISSING[channel] ?? `They have no address for ${channelName(channel)}.`} Only they can add one, in their profile, under Notifications.`,
          }
        : { word: 'no address', help: 'The channel has been removed.' };
    case 'unverified':
      return isPerson
        ? {
            word: 'not confirmed',
            help: 'Nothing is sent to an address until its owner has confirmed it, in their profile, under Notifications.',
          }
        : { word: 'not confirmed', help: 'Nothing is sent there until an administrator has typed in the code that was sent there.' };
    case 'off':
      return isPerson
        ? { word: 'switched off', help: 'By its owner, or because the receiver says that the address is gone. Only they can switch it on.' }
        : { word: 'switched off', help: 'The receiver says that it is gone. Confirm the channel again.' };
    case 'unsubscribed':
      return { word: 'left', help: 'They have unsubscribed. Only they can take that back, in their profile, under Notifications.' };
    case 'duplicate':
      return { word: 'told once', help: 'Another line of this group leads to the same address.' };
  }
}
