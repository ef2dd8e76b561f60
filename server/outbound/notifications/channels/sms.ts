import { detailOf, numberAsSecrets, readObject, sendRequest, waitOf } from './http.ts';
import type { ProviderAnswer } from './http.ts';
import type { HttpDeps, HttpRequest } from './http.ts';
import type { SecretFile } from './secret-file.ts';
import { smsText } from './sms-text.ts';
import type { AddressOf, Channel, OffReason, OutgoingMessage, SendResult } from './types.ts';

export interface SmsSettings {
  /** Of Twilio, or of a provider that has its API. */
  apiUrl: string;
  accountId: string;
  /** A telephone number, a sender's name, or a messaging service (`MG…`). */
  from: string;
}

export interface SmsDeps extends HttpDeps {
  settings: SmsSettings;
  token: SecretFile;
  /** Where the provider says what became of a message; null: nobody could hear it. */
  statusCallback: string | null;
}

/** Text messages by Twilio's API: one segment each. */
export class SmsChannel implements Channel<'sms'> {
  readonly name = 'sms';
  /** One segment a second for a long code in the United States; Twilio queues what is faster for ten hours. */
  readonly limits = { perSecond: 1, burst: 3 };
  readonly #deps: SmsDeps;

  constructor(deps: SmsDeps) {
    this.#deps = deps;
  }

  bucketOf(): string {
    return 'sms';
  }

  async send({ text }: OutgoingMessage, { to }: AddressOf<'sms'>, signal: AbortSignal): Promise<SendResult> {
    const { settings, token, statusCallback, now } = this.#deps;
    const secret = await token.read();
    if (secret === undefined) return { outcome: 'config', error: 'password_unreadable', detail: '' };
    const request = requestOf(settings, secret, { to, body: smsText(text), statusCallback });
    return sendRequest(request, this.#deps, signal, (answer) => judge(answer, now()));
  }
}

interface Sms {
  to: string;
  body: string;
  statusCallback: string | null;
}

function requestOf({ apiUrl, accountId, from }: SmsSettings, secret: string, { to, body, statusCallback }: Sms): HttpRequest {
  const sender: Record<string, string> = from.startsWith('MG') ? { MessagingServiceSid: from } : { From: from };
  const callback: Record<string, string> = statusCallback === null ? {} : { StatusCallback: statusCallback };
  const credentials = Buffer.from(`${accountId}:${secret}`).toString('base64');
  return {
    url: `${apiUrl}/2010-04-01/Accounts/${encodeURIComponent(accountId)}/Messages.json`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: `Basic ${credentials}` },
    body: new URLSearchParams({ To: to, ...sender, Body: body, ...callback }).toString(),
    secrets: [secret, credentials, ...numberAsSecrets(to)],
  };
}

/** twilio.com/docs/api/errors: the number itself is the reason. */
const OFF: Record<number, OffReason> = {
  // The person has answered STOP.
  21610: 'unsubscribed',
  21211: 'no_account',
  21614: 'no_account',
  21635: 'no_account',
  // These come by callback. 30003 does not stand here: that telephone is only switched off, or without a signal.
  // "Unknown destination handset", "landline or unreachable carrier".
  30005: 'no_account',
  30006: 'no_account',
};

/** Why nothing arrives at a number any more, by the provider's code; undefined for an error that concerns one message. */
export function smsOffReason(code: number): OffReason | undefined {
  return OFF[code];
}

/** The sender, not the recipient: no such number, not ours, not able to send. 21609: the address for callbacks is none. */
const SENDER: ReadonlySet<number> = new Set([20003, 21212, 21603, 21606, 21609, 21659, 21660]);

function judge(answer: ProviderAnswer, now: number): SendResult | undefined {
  const body = readObject(answer.body);
  if (answer.status === 201) return { outcome: 'sent', ...(typeof body['sid'] === 'string' ? { ref: body['sid'] } : {}) };
  const code = typeof body['code'] === 'number' ? body['code'] : 0;
  const detail = detailOf(answer, typeof body['message'] === 'string' ? `${code} ${body['message']}` : answer.body);
  const off = smsOffReason(code);
  if (off !== undefined) return { outcome: 'never', error: 'gone', detail, addressOff: off };
  if (SENDER.has(code)) return { outcome: 'config', error: 'unauthorized', detail };
  // 20429 and the like; 14107 is the limit of one sender.
  if (answer.status === 429 || code === 14_107) return { outcome: 'retry', error: 'rate_limited', detail, ...waitOf(answer, now) };
  return answer.status === 400 ? { outcome: 'never', error: 'refused', detail } : undefined;
}
