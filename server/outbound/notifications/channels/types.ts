import type { Text, ThreadView } from '../texts/types.ts';

/** What the pipeline hands to a channel, and what a channel says about it. */

/** Addresses by channel. Secrets are decrypted. */
export interface Addresses {
  email: { to: string };
  /** `secrets` sign the message: the team's, two of them during a rotation. */
  webhook: { url: string; secrets: readonly string[] };
  slack: { url: string };
  teams: { url: string };
  telegram: { chatId: string };
  pagerduty: { routingKey: string; region: 'us' | 'eu' };
  /** `url` is the server's; `token` is null for a topic without access control. */
  ntfy: { url: string; topic: string; token: string | null };
  gotify: { url: string; token: string };
  /** A telephone number in the international form, with `+`. */
  whatsapp: { to: string };
  sms: { to: string };
  /** As `PushSubscription.toJSON()` has it, keys in base64url. */
  web_push: { endpoint: string; p256dh: string; auth: string };
}

export type ChannelName = keyof Addresses;
export const CHANNEL_NAMES = Object.keys({
  email: true,
  webhook: true,
  slack: true,
  teams: true,
  telegram: true,
  pagerduty: true,
  ntfy: true,
  gotify: true,
  whatsapp: true,
  sms: true,
  web_push: true,
} satisfies Record<ChannelName, true>) as ChannelName[];
export type AddressOf<N extends ChannelName> = Addresses[N];
/** An address with the name of its channel. */
export type Address = { [N in ChannelName]: { channel: N } & Addresses[N] }[ChannelName];

export interface OutgoingMessage {
  /** The message row's. The same in every attempt: Message-ID, webhook-id. */
  id: string;
  thread: ThreadView;
  text: Text;
  /** Ids of earlier messages of this thread to the same address, oldest first. */
  previousIds: readonly string[];
  /** Shows a page; one POST to it unsubscribes. */
  unsubscribeUrl?: string;
  isTest: boolean;
  /** What the provider called the thread's first message to this address, for channels that reply to it. */
  providerRef?: string;
}

/** Stable words for what went wrong. */
export const SEND_ERRORS = [
  // No answer.
  'timed_out',
  'name_not_found',
  'connect_failed',
  'tls_failed',
  'connection_lost',
  'answer_invalid',
  'url_refused',
  'address_refused',
  // An answer.
  'rate_limited',
  'unavailable',
  'refused',
  'gone',
  'unauthorized',
  'redirected',
  'too_large',
  // Long after the answer.
  'undelivered',
  // Before the attempt.
  'signing_failed',
  'not_configured',
  'password_unreadable',
] as const;
export type SendError = (typeof SEND_ERRORS)[number];

/** Why an address is switched off until somebody proves it again. */
export const OFF_REASONS = ['bounced', 'gone', 'blocked', 'unsubscribed', 'no_account', 'key_refused'] as const;
export type OffReason = (typeof OFF_REASONS)[number];

interface Failed {
  error: SendError;
  /** The provider's own words, at most {@link MAX_DETAIL_CHARS} characters, without secrets. */
  detail: string;
}

export const MAX_DETAIL_CHARS = 300;

export type SendResult =
  /** `ref`: what the provider calls the message. `movedTo`: the address has changed, and the message went to the new one. */
  | { outcome: 'sent'; ref?: string; movedTo?: string }
  /** Not now. With `retryAfterMs` the provider has said when: the whole bucket waits, and the attempt does not count. */
  | ({ outcome: 'retry'; retryAfterMs?: number } & Failed)
  /** This message never arrives there. With `addressOff` no other does either. */
  | ({ outcome: 'never'; addressOff?: OffReason } & Failed)
  /** The operator's account or this installation is at fault, not the message: pauses the provider's account. */
  | ({ outcome: 'config' } & Failed)
  /** This process is stopping; the attempt does not count. */
  | { outcome: 'stopped' };

/** What a provider says of a message after it took it. */
export interface Receipt {
  /** What the provider calls the message. */
  ref: string;
  /** When it happened, milliseconds since 1970, by the provider's clock; undefined when it does not say. */
  at?: number;
  says: 'delivered' | 'read' | Undelivered;
}

/** It will never be there. */
export interface Undelivered {
  /** Code and words of the provider, at most {@link MAX_DETAIL_CHARS} characters, without secrets. */
  detail: string;
  /** No other message will be there either. */
  addressOff?: OffReason;
}

/** Channels whose providers say what became of a message. */
export const RECEIPT_CHANNELS = ['sms', 'whatsapp'] as const;
export type ReceiptChannel = (typeof RECEIPT_CHANNELS)[number];

/** One way to people. Channels keep no state between messages and never reject. */
export interface Channel<N extends ChannelName = ChannelName> {
  readonly name: N;
  /** Messages with the same bucket share a rate: a provider's account, or one receiver's address. Not a secret. */
  bucketOf(address: AddressOf<N>): string;
  /** Of one bucket. */
  readonly limits: { readonly perSecond: number; readonly burst: number };
  send(message: OutgoingMessage, address: AddressOf<N>, signal: AbortSignal): Promise<SendResult>;
}
