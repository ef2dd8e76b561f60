import { invalidField } from '../../../platform/core/errors.ts';
import { readEmailAddress } from '../../../platform/core/email-address.ts';
import type { AddressRules } from '../../../platform/core/public-address.ts';
import { TargetRefused, checkTarget } from '../../../platform/outgoing/target.ts';
import type { ContactAddress, ContactChannel } from './types.ts';

/** Checks what a person gives as an address. Pure. */

/** What a browser's `PushSubscription.toJSON()` has. */
export interface GivenSubscription {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

/** @throws AppError `invalid` that names the field and the reason */
export function readContact(
  channel: ContactChannel,
  given: { address?: string | undefined; subscription?: GivenSubscription | undefined },
  rules: AddressRules,
): ContactAddress {
  if (channel === 'web_push') {
    if (given.address !== undefined) throw invalidField('address', 'is not part of a browser; give its subscription');
    return readSubscription(given.subscription, rules);
  }
  if (given.subscription !== undefined) throw invalidField('subscription', 'belongs to web_push only');
  if (given.address === undefined) throw invalidField('address', 'is missing');
  const text = given.address.trim();
  switch (channel) {
    case 'email':
      return { channel, to: readEmail(text) };
    case 'sms':
    case 'whatsapp':
      return { channel, to: readNumber(text) };
    case 'telegram':
      if (!/^\d{1,20}$/.test(text)) throw invalidField('address', 'must be the number of your chat with the bot');
      return { channel, chatId: text };
  }
}

function readEmail(text: string): string {
  const email = readEmailAddress(text);
  if (email === undefined) throw invalidField('address', 'is not an email address');
  return email;
}

/** E.164: at most 15 digits. People write spaces and hyphens. */
function readNumber(text: string): string {
  const number = text.replaceAll(/[\s().-]/g, '');
  if (!/^\+[1-9]\d{6,14}$/.test(number)) throw invalidField('address', 'must be a telephone number like +34 600 123 456');
  return number;
}

/** 65 bytes of a P-256 key and 16 of a secret, in base64url (RFC 8291). */
function readSubscription(given: GivenSubscription | undefined, rules: AddressRules): ContactAddress {
  if (given === undefined) throw invalidField('subscription', 'is missing');
  const { endpoint, keys } = given;
  const { p256dh, auth } = keys;
  const url = URL.parse(endpoint);
  if (url === null || url.username !== '' || url.hash !== '') throw invalidField('subscription.endpoint', 'must be a URL');
  try {
    checkTarget(url, { allowLoopback: rules.allowLoopback });
  } catch (error) {
    if (!(error instanceof TargetRefused)) throw error;
    throw invalidField('subscription.endpoint', 'must be a public address and begin with https://');
  }
  if (Buffer.from(p256dh, 'base64url').length !== 65)
    throw invalidField('subscription.keys.p256dh', 'is not a key of 65 bytes in base64url');
  if (Buffer.from(auth, 'base64url').length !== 16)
    throw invalidField('subscription.keys.auth', 'is not a secret of 16 bytes in base64url');
  return { channel: 'web_push', endpoint: url.href, p256dh, auth };
}

const HIDDEN = '•••';

/** What others see: enough to tell two addresses apart, too little to write there. */
export function showContact(address: ContactAddress): string {
  switch (address.channel) {
    case 'email':
      return showEmail(address.to);
    case 'sms':
    case 'whatsapp':
      return `${address.to.slice(0, 3)}${HIDDEN}${address.to.slice(-2)}`;
    case 'telegram':
      return `${HIDDEN}${address.chatId.slice(-2)}`;
    case 'web_push':
      return new URL(address.endpoint).host;
  }
}

/** For the person alone: the whole address, as far as it means something to people. */
export function wholeAddress({ shown }: { shown: string }, address: ContactAddress): string {
  if ('to' in address) return address.to;
  return address.channel === 'telegram' ? address.chatId : shown;
}

export function showEmail(email: string): string {
  const at = email.lastIndexOf('@');
  return `${email.slice(0, 1)}${HIDDEN}${email.slice(Math.max(at, 1))}`;
}

/** The same for two spellings of one address. */
export function identityOfContact(address: ContactAddress): string {
  switch (address.channel) {
    case 'email':
      return `email ${address.to.toLowerCase()}`;
    case 'telegram':
      return `telegram ${address.chatId}`;
    case 'web_push':
      return `web_push ${address.endpoint}`;
    default:
      return `${address.channel} ${address.to}`;
  }
}
