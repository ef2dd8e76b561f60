import { createHmac } from 'node:crypto';
import { ProviderStandIn } from './stand-in.ts';
import { checkSms, checkWhatsapp } from './providers.ts';

/**
 * Providers that say later what became of a message. Their callbacks are written from what they publish, not from our code: a signature
 * that they would make differently fails here.
 */

/** How a callback is sent: through a proxy, or by somebody who only pretends. */
export interface Callback {
  /** Where it goes instead of the address that was signed: the control plane behind its proxy, or another one. */
  to?: string;
  /** Signs with another secret. */
  key?: string;
  headers?: Record<string, string>;
}

/** twilio.com/docs/usage/security: "take the full URL …, sort the POST variables …, append each name and value, sign with HMAC-SHA1". */
export function signAsTwilio(key: string, url: string, parameters: Readonly<Record<string, string>>): string {
  let signed = url;
  for (const name of Object.keys(parameters).sort()) signed += name + parameters[name];
  return createHmac('sha1', key).update(Buffer.from(signed, 'utf8')).digest('base64');
}

/** developers.facebook.com/docs/graph-api/webhooks: `sha256=` and the HMAC-SHA256 of the payload. */
export function signAsMeta(key: string, payload: string): string {
  return `sha256=${createHmac('sha256', key).update(payload).digest('hex')}`;
}

/** Takes text messages as Twilio does, and calls back at the address that it was given with each. */
export class TwilioStandIn {
  readonly account: ProviderStandIn;
  readonly #token: string;

  private constructor(account: ProviderStandIn, token: string) {
    this.account = account;
    this.#token = token;
  }

  /** @param token of the account: requests show it, and callbacks are signed with it */
  static async start(token: string): Promise<TwilioStandIn> {
    let count = 0;
    const account = await ProviderStandIn.start(checkSms, () => {
      count += 1;
      return { status: 201, body: { sid: `SM${count.toString(16).padStart(32, '0')}`, status: 'queued' } };
    });
    return new TwilioStandIn(account, token);
  }

  /** What it called its n-th message. */
  sid(n: number): string {
    return `SM${n.toString(16).padStart(32, '0')}`;
  }

  /** Where the n-th message, counted from 1, is to be told of. */
  callbackOf(n: number): string | null {
    return new URLSearchParams(this.account.requests[n - 1]?.body.toString()).get('StatusCallback');
  }

  /** @param n which message, counted from 1 @returns the status of the answer */
  async say(n: number, status: string, errorCode?: number, { to, key = this.#token, headers = {} }: Callback = {}): Promise<number> {
    const form = new URLSearchParams(this.account.requests[n - 1]!.body.toString());
    const url = form.get('StatusCallback')!;
    const parameters: Record<string, string> = {
      AccountSid: 'AC0123456789',
      ApiVersion: '2010-04-01',
      From: form.get('From')!,
      MessageSid: this.sid(n),
      MessageStatus: status,
      SmsSid: this.sid(n),
      SmsStatus: status,
      To: form.get('To')!,
      ...(errorCode === undefined ? {} : { ErrorCode: String(errorCode) }),
    };
    const signature = signAsTwilio(key, url, parameters);
    const answer = await fetch(to ?? url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
        'user-agent': 'TwilioProxy/1.1',
        'x-twilio-signature': signature,
        ...headers,
      },
      body: new URLSearchParams(parameters).toString(),
    });
    await answer.arrayBuffer();
    return answer.status;
  }

  close(): Promise<void> {
    return this.account.close();
  }
}

export interface MetaError {
  code: number;
  title: string;
  details?: string;
}

/** Takes WhatsApp messages as Meta's Cloud API does, and calls a webhook with their statuses. */
export class MetaStandIn {
  readonly account: ProviderStandIn;
  readonly #appSecret: string;

  private constructor(account: ProviderStandIn, appSecret: string) {
    this.account = account;
    this.#appSecret = appSecret;
  }

  static async start(appSecret: string): Promise<MetaStandIn> {
    let count = 0;
    const account = await ProviderStandIn.start(checkWhatsapp, () => {
      count += 1;
      return { status: 200, body: { messaging_product: 'whatsapp', messages: [{ id: wamid(count) }] } };
    });
    return new MetaStandIn(account, appSecret);
  }

  /** @param statuses of messages by their number, counted from 1; all in one request @param at milliseconds since 1970 */
  async say(
    webhook: string,
    statuses: readonly { n: number; status: string; at: number; error?: MetaError }[],
    { to, key = this.#appSecret, headers = {} }: Callback = {},
  ): Promise<number> {
    const payload = JSON.stringify({
      object: 'whatsapp_business_account',
      entry: [
        {
          id: '8856996819413533',
          changes: [
            {
              field: 'messages',
              value: {
                messaging_product: 'whatsapp',
                metadata: { display_phone_number: '16505553333', phone_number_id: '106540352242922' },
                statuses: statuses.map(({ n, status, at, error }) => ({
                  id: wamid(n),
                  status,
                  timestamp: String(Math.floor(at / 1000)),
                  recipient_id: '34600123456',
                  ...(error === undefined
                    ? {}
                    : {
                        errors: [
                          {
                            code: error.code,
                            title: error.title,
                            message: error.title,
                            error_data: { details: error.details ?? error.title },
                            href: 'https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/',
                          },
                        ],
                      }),
                })),
              },
            },
          ],
        },
      ],
    });
    const answer = await fetch(to ?? webhook, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': signAsMeta(key, payload), ...headers },
      body: payload,
    });
    await answer.arrayBuffer();
    return answer.status;
  }

  close(): Promise<void> {
    return this.account.close();
  }
}

function wamid(n: number): string {
  return `wamid.${Buffer.from(`message ${n}`).toString('base64')}`;
}
