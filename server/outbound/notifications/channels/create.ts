import type { Poster } from '../../../platform/outgoing/poster.ts';
import { EmailChannel } from './email/channel.ts';
import type { SmtpSettings } from './email/channel.ts';
import { GotifyChannel } from './gotify.ts';
import { NtfyChannel } from './ntfy.ts';
import { PagerdutyChannel } from './pagerduty.ts';
import { SecretFile } from './secret-file.ts';
import type { Channels } from './set.ts';
import { SlackChannel } from './slack.ts';
import { SmsChannel } from './sms.ts';
import type { SmsSettings } from './sms.ts';
import { TeamsChannel } from './teams.ts';
import { TelegramChannel } from './telegram.ts';
import { WebPushChannel } from './web-push/channel.ts';
import type { VapidKeys } from './web-push/vapid.ts';
import { WebhookChannel } from './webhook.ts';
import { WhatsappChannel } from './whatsapp.ts';
import type { WhatsappSettings } from './whatsapp.ts';

/** What Meta signs its callbacks with, and what it shows when their address is entered there. */
export interface WhatsappCallbackFiles {
  readonly appSecretFile: string;
  readonly verifyTokenFile: string;
}

/** The operator's accounts; null without one. */
export interface ChannelAccounts {
  telegram: { readonly apiUrl: string; readonly tokenFile: string } | null;
  whatsapp: (WhatsappSettings & { readonly tokenFile: string; readonly callbacks: WhatsappCallbackFiles | null }) | null;
  sms: (SmsSettings & { readonly tokenFile: string }) | null;
}

export interface ChannelsOptions {
  /** The caller closes it, and the email channel. */
  poster: Pick<Poster, 'ask'>;
  now: () => number;
  accounts: Readonly<ChannelAccounts>;
  smtp: SmtpSettings | null;
  /** Where the provider of text messages says what became of them; null: nobody could hear it. */
  smsCallback?: string | null;
  /**
   * The keys that browsers subscribe to, and whom a push service may ask. Without them there is no web push. It has a poster of its own: every
   * member names a push service, and those are public.
   */
  webPush?: { poster: Pick<Poster, 'ask'>; vapid: () => Promise<VapidKeys>; subject: string };
}

/** All channels that this installation can use. Webhook, Slack, Teams, PagerDuty, ntfy and Gotify need no account of the operator. */
export function createChannels({ poster, now, accounts, smtp, smsCallback = null, webPush }: ChannelsOptions): Channels {
  const { telegram, whatsapp, sms } = accounts;
  const deps = { poster, now };
  return {
    webhook: new WebhookChannel(deps),
    slack: new SlackChannel(deps),
    teams: new TeamsChannel(deps),
    pagerduty: new PagerdutyChannel(deps),
    ntfy: new NtfyChannel(deps),
    gotify: new GotifyChannel(deps),
    ...(telegram && { telegram: new TelegramChannel({ ...deps, apiUrl: telegram.apiUrl, token: new SecretFile(telegram.tokenFile) }) }),
    ...(whatsapp && { whatsapp: new WhatsappChannel({ ...deps, settings: whatsapp, token: new SecretFile(whatsapp.tokenFile) }) }),
    ...(sms && { sms: new SmsChannel({ ...deps, settings: sms, token: new SecretFile(sms.tokenFile), statusCallback: smsCallback }) }),
    ...(smtp && { email: new EmailChannel({ smtp, now }) }),
    ...(webPush && { web_push: new WebPushChannel({ ...deps, ...webPush }) }),
  };
}
