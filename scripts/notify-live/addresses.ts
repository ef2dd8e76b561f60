import type { Address } from '../../server/outbound/notifications/channels/types.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** An address to try, or what is missing for it. */
export type LiveAddress = Address | { channel: Address['channel']; missing: readonly string[] };

/** What each channel is tried with. */
const VARIABLES: readonly {
  needs: readonly string[];
  channel: Address['channel'];
  of: (value: (name: string) => string, given: (name: string) => string | null) => Address;
}[] = [
  { channel: 'email', needs: ['LIVE_EMAIL'], of: (value) => ({ channel: 'email', to: value('LIVE_EMAIL') }) },
  {
    channel: 'webhook',
    needs: ['LIVE_WEBHOOK_URL', 'LIVE_WEBHOOK_SECRET'],
    of: (value) => ({ channel: 'webhook', url: value('LIVE_WEBHOOK_URL'), secrets: [value('LIVE_WEBHOOK_SECRET')] }),
  },
  { channel: 'slack', needs: ['LIVE_SLACK_URL'], of: (value) => ({ channel: 'slack', url: value('LIVE_SLACK_URL') }) },
  { channel: 'teams', needs: ['LIVE_TEAMS_URL'], of: (value) => ({ channel: 'teams', url: value('LIVE_TEAMS_URL') }) },
  {
    channel: 'telegram',
    needs: ['LIVE_TELEGRAM_CHAT_ID'],
    of: (value) => ({ channel: 'telegram', chatId: value('LIVE_TELEGRAM_CHAT_ID') }),
  },
  {
    channel: 'pagerduty',
    needs: ['LIVE_PAGERDUTY_KEY'],
    of: (value, given) => ({
      channel: 'pagerduty',
      routingKey: value('LIVE_PAGERDUTY_KEY'),
      region: given('LIVE_PAGERDUTY_REGION') === 'eu' ? 'eu' : 'us',
    }),
  },
  {
    channel: 'ntfy',
    needs: ['LIVE_NTFY_URL', 'LIVE_NTFY_TOPIC'],
    of: (value, given) => ({
      channel: 'ntfy',
      url: value('LIVE_NTFY_URL'),
      topic: value('LIVE_NTFY_TOPIC'),
      token: given('LIVE_NTFY_TOKEN'),
    }),
  },
  {
    channel: 'gotify',
    needs: ['LIVE_GOTIFY_URL', 'LIVE_GOTIFY_TOKEN'],
    of: (value) => ({ channel: 'gotify', url: value('LIVE_GOTIFY_URL'), token: value('LIVE_GOTIFY_TOKEN') }),
  },
  { channel: 'whatsapp', needs: ['LIVE_WHATSAPP_TO'], of: (value) => ({ channel: 'whatsapp', to: value('LIVE_WHATSAPP_TO') }) },
  { channel: 'sms', needs: ['LIVE_SMS_TO'], of: (value) => ({ channel: 'sms', to: value('LIVE_SMS_TO') }) },
];

/** One entry for each channel. An empty variable is one that is not set. */
export function liveAddresses(variables: Variables): LiveAddress[] {
  const given = (name: string): string | null => variables[name] || null;
  return VARIABLES.map(({ channel, needs, of }) => {
    const missing = needs.filter((name) => given(name) === null);
    return missing.length > 0 ? { channel, missing } : of((name) => given(name) ?? '', given);
  });
}
