import { cutText } from '../texts/clean.ts';
import type { Text } from '../texts/types.ts';
import { detailOf, jsonRequest, numberAsSecrets, readObject, sendRequest, waitOf } from './http.ts';
import type { ProviderAnswer } from './http.ts';
import type { HttpDeps } from './http.ts';
import type { SecretFile } from './secret-file.ts';
import type { AddressOf, Channel, OffReason, OutgoingMessage, SendResult } from './types.ts';

export interface WhatsappSettings {
  /** With its version: `https://graph.facebook.com/v23.0`. */
  apiUrl: string;
  phoneNumberId: string;
  /** Approved in English, German and Spanish, with four variables: what, where, when, link. */
  template: string;
}

export interface WhatsappDeps extends HttpDeps {
  settings: WhatsappSettings;
  token: SecretFile;
}

/** A template's body has at most 1,024 characters with its variables; these are far below. */
const MAX_VARIABLE_CHARS = 200;
/** Between two messages to one person: error 131056. */
const PAIR_WAIT_MS = 6000;

/** WhatsApp, by Meta's Cloud API. Only templates that Meta has approved may begin a conversation. */
export class WhatsappChannel implements Channel<'whatsapp'> {
  readonly name = 'whatsapp';
  /** 80 a second for a number; a person gets one in six seconds. The slower one holds for each person. */
  readonly limits = { perSecond: 1 / 6, burst: 2 };
  readonly #deps: WhatsappDeps;

  constructor(deps: WhatsappDeps) {
    this.#deps = deps;
  }

  bucketOf({ to }: AddressOf<'whatsapp'>): string {
    return `whatsapp:${to}`;
  }

  async send({ text }: OutgoingMessage, { to }: AddressOf<'whatsapp'>, signal: AbortSignal): Promise<SendResult> {
    const { settings, token, now } = this.#deps;
    const secret = await token.read();
    if (secret === undefined) return { outcome: 'config', error: 'password_unreadable', detail: '' };
    const url = `${settings.apiUrl}/${encodeURIComponent(settings.phoneNumberId)}/messages`;
    const body = {
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: to.replace(/^\+/, ''),
      type: 'template',
      template: templateOf(settings.template, text),
    };
    const request = jsonRequest(url, body, { headers: { authorization: `Bearer ${secret}` }, secrets: [secret, ...numberAsSecrets(to)] });
    return sendRequest(request, this.#deps, signal, (answer) => judge(answer, now()));
  }
}

/** A variable may hold neither line breaks nor tabs nor more than four spaces in a row; our sentences have none. */
function templateOf(name: string, { locale, parts, url }: Text): Record<string, unknown> {
  const variables = [parts.what, parts.where, parts.when].map((variable) => cutText(variable, MAX_VARIABLE_CHARS));
  return {
    name,
    language: { code: locale },
    components: [{ type: 'body', parameters: [...variables, url].map((variable) => ({ type: 'text', text: variable })) }],
  };
}

/** developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes */
const RATE: ReadonlySet<number> = new Set([4, 80_007, 130_429, 131_048]);
/** Token, rights, payment, locked account, and a template that is missing, paused or has other variables. */
const ACCOUNT: ReadonlySet<number> = new Set([
  0, 3, 10, 190, 368, 131_005, 131_031, 131_042, 131_045, 132_000, 132_001, 132_005, 132_007, 132_012, 132_015, 132_016, 133_010,
]);
const LATER: ReadonlySet<number> = new Set([1, 2, 131_000, 131_016, 131_057, 133_004]);

const OFF: Record<number, OffReason> = { 131_026: 'no_account', 131_050: 'unsubscribed' };

/** Why nothing arrives at a number any more, by Meta's code; undefined for an error that concerns one message. */
export function whatsappOffReason(code: number): OffReason | undefined {
  return OFF[code];
}

function judge(answer: ProviderAnswer, now: number): SendResult | undefined {
  const body = readObject(answer.body);
  if (answer.status === 200) {
    const [first] = (Array.isArray(body['messages']) ? body['messages'] : []) as { id?: unknown }[];
    return { outcome: 'sent', ...(typeof first?.id === 'string' ? { ref: first.id } : {}) };
  }
  const error = (body['error'] ?? {}) as { code?: unknown; message?: unknown };
  if (typeof error.code !== 'number') return undefined;
  const { code } = error;
  const detail = detailOf(answer, typeof error.message === 'string' ? error.message : '');
  const off = whatsappOffReason(code);
  if (off !== undefined) return { outcome: 'never', error: 'gone', detail, addressOff: off };
  if (code === 131_056) return { outcome: 'retry', error: 'rate_limited', detail, retryAfterMs: PAIR_WAIT_MS };
  if (RATE.has(code)) return { outcome: 'retry', error: 'rate_limited', detail, ...waitOf(answer, now) };
  if (ACCOUNT.has(code) || (code >= 200 && code <= 299)) return { outcome: 'config', error: 'unauthorized', detail };
  if (LATER.has(code)) return { outcome: 'retry', error: 'unavailable', detail };
  return answer.status < 500 ? { outcome: 'never', error: 'refused', detail } : undefined;
}
