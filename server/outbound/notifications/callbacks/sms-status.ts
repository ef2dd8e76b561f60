import { numberAsSecrets, wordsOf } from '../channels/http.ts';
import { smsOffReason } from '../channels/sms.ts';
import type { Receipt } from '../channels/types.ts';

/** What Twilio says of a text message (twilio.com/docs/messaging/guides/track-outbound-message-status). Pure. */

/** `SM` and 32 hexadecimal digits at Twilio; others with its API have other ids. */
const SID = /^\w{1,64}$/;

/** Titles in twilio.com/docs/api/errors: a callback has the code alone. */
const TITLES: Record<string, string> = {
  '21610': 'Attempt to send to unsubscribed recipient',
  '30001': 'Queue overflow',
  '30002': 'Account suspended',
  '30003': 'Unreachable destination handset',
  '30004': 'Message blocked',
  '30005': 'Unknown destination handset',
  '30006': 'Landline or unreachable carrier',
  '30007': 'Message filtered',
  '30008': 'Unknown error',
};

/** @returns undefined for a status on the way (`queued`, `sending`, `sent` …), and for what is none */
export function readSmsStatus(form: URLSearchParams): Receipt | undefined {
  const ref = form.get('MessageSid') ?? '';
  if (!SID.test(ref)) return undefined;
  switch (form.get('MessageStatus')) {
    case 'delivered':
      return { ref, says: 'delivered' };
    case 'undelivered':
    case 'failed':
      return { ref, says: undelivered(form) };
    default:
      return undefined;
  }
}

function undelivered(form: URLSearchParams) {
  const code = form.get('ErrorCode') ?? '';
  const words = `${code} ${form.get('ErrorMessage') ?? TITLES[code] ?? ''}`;
  const addressOff = smsOffReason(Number(code));
  const detail = wordsOf(words, numberAsSecrets(form.get('To') ?? ''));
  return { detail, ...(addressOff === undefined ? {} : { addressOff }) };
}
