import type { Answer, AskResult, Message, Poster } from '../../../platform/outgoing/poster.ts';
import { LONGEST_RETRY_AFTER_MS, readRetryAfter } from '../../../platform/outgoing/retry-after.ts';
import { cleanText } from '../../../../routeros-text/router-text.ts';
import { MAX_DETAIL_CHARS } from './types.ts';
import type { SendError, SendResult } from './types.ts';

/** What all channels over HTTP share: one guarded request, and how its answer is sorted. */

/** A provider's explanation is a sentence or a small JSON object. */
const MAX_ANSWER_BYTES = 4096;

export interface HttpDeps {
  poster: Pick<Poster, 'ask'>;
  /** Milliseconds since 1970, for `Retry-After` with a date. */
  now: () => number;
}

export interface HttpRequest extends Message {
  /** Parts of the request that the provider may repeat in its answer, and that nobody may read in a log. */
  secrets: readonly string[];
}

/** An answer as it came. What is told of it goes through {@link detailOf}, which takes out the secrets. */
export interface ProviderAnswer extends Answer {
  secrets: readonly string[];
}

/** How an answer ended the attempt, if its channel knows better than {@link judgeAnswer}; undefined otherwise. */
export type Judge = (answer: ProviderAnswer) => SendResult | undefined;

/** Sends one request. Never rejects. @param judge what is particular to the provider */
export async function sendRequest(request: HttpRequest, { poster, now }: HttpDeps, signal: AbortSignal, judge: Judge): Promise<SendResult> {
  const { secrets, ...message } = request;
  const headers = { 'user-agent': 'Signalbox-Notifications/1', ...message.headers };
  const answer = await poster.ask({ ...message, headers }, signal, MAX_ANSWER_BYTES);
  if (answer.outcome !== 'answered') return noAnswer(answer);
  const told = { ...answer, secrets: [...secrets, ...secretsOf(request)] };
  return judge(told) ?? judgeAnswer(told, now());
}

/** What a provider may write of a telephone number: every viewer of the team reads its answer. */
export function numberAsSecrets(to: string): string[] {
  return [to, to.replace(/^\+/, '')];
}

/** Headers, body and secrets of a request with a JSON body. */
export function jsonRequest(
  url: string,
  body: unknown,
  options: { headers?: Record<string, string>; secrets?: readonly string[] } = {},
): HttpRequest {
  return { url, headers: options.headers ?? {}, body: JSON.stringify(body), secrets: options.secrets ?? [] };
}

/** By the status: 2xx is sent; 408, 425, 429 and 5xx are tried again; 401 and 403 are about the account; the rest never arrives. */
export function judgeAnswer(answer: ProviderAnswer, now: number): SendResult {
  const { status } = answer;
  if (status >= 200 && status < 300) return { outcome: 'sent' };
  const detail = detailOf(answer);
  if (status === 429) return { outcome: 'retry', error: 'rate_limited', detail, ...waitOf(answer, now) };
  if (status >= 500 || status === 408 || status === 425) return { outcome: 'retry', error: 'unavailable', detail, ...waitOf(answer, now) };
  if (status === 401 || status === 403) return { outcome: 'config', error: 'unauthorized', detail };
  if (status === 410) return { outcome: 'never', error: 'gone', detail, addressOff: 'gone' };
  return { outcome: 'never', error: wordOf(status), detail };
}

function wordOf(status: number): SendError {
  if (status === 413) return 'too_large';
  return status >= 300 && status < 400 ? 'redirected' : 'refused';
}

function noAnswer(result: Exclude<AskResult, { outcome: 'answered' }>): SendResult {
  if (result.outcome === 'stopped') return result;
  const { error } = result;
  // The address leads to a network that the operator has not allowed. Trying again would not change it.
  if (error === 'url_refused' || error === 'address_refused') return { outcome: 'never', error, detail: '' };
  return { outcome: 'retry', error, detail: '' };
}

/** When the provider wants the next request: `Retry-After`, or the reset of its rate limit. */
export function waitOf({ headers }: Pick<Answer, 'headers'>, now: number): { retryAfterMs?: number } {
  const asked = readRetryAfter(headers['retry-after'], now);
  return asWait(asked > 0 ? asked : readRetryAfter(resetOf(headers), now));
}

/** `RateLimit-Reset: 30`, or the later form `RateLimit: "default";r=0;t=30`. Both count seconds from now. */
function resetOf(headers: Answer['headers']): string | undefined {
  const plain = headers['ratelimit-reset'];
  if (plain !== undefined) return plain;
  return /;\s*t=(\d{1,6})\b/.exec(headers['ratelimit'] ?? '')?.[1];
}

/** A wait that a provider names in seconds in the body of its answer. */
export function waitOfSeconds(seconds: unknown): { retryAfterMs?: number } {
  return asWait(typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : 0);
}

function asWait(ms: number): { retryAfterMs?: number } {
  return ms > 0 ? { retryAfterMs: Math.min(Math.ceil(ms), LONGEST_RETRY_AFTER_MS) } : {};
}

/**
 * "HTTP 400: chat not found". Only "HTTP 400" of a host in the operator's own network: an administrator of a team chooses its address, and
 * could read there what is not for them.
 * @param words the provider's, if they are not the whole body
 */
export function detailOf({ status, body, secrets, isPrivate }: Omit<ProviderAnswer, 'outcome' | 'headers'>, words = body): string {
  if (isPrivate) return `HTTP ${status}`;
  const told = words.trim();
  return wordsOf(told === '' ? `HTTP ${status}` : `HTTP ${status}: ${told}`, secrets);
}

/** What people may read of a provider's words. Secrets go before anything is cut: half of one is one, too. */
export function wordsOf(words: string, secrets: readonly string[]): string {
  return cleanText(withoutSecrets(words, secrets).trim(), MAX_DETAIL_CHARS);
}

/** The address of a hook is its secret, in whatever part a receiver repeats it; a header that authorises is one, too. */
function secretsOf({ url, headers }: HttpRequest): string[] {
  const { pathname = '', search = '' } = URL.parse(url) ?? {};
  return [url, `${pathname}${search}`, pathname, headers['authorization'] ?? ''].filter((part) => part.length > 1);
}

/** Some providers write JSON with escaped slashes. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  const written = secrets.flatMap((secret) => [secret, secret.replaceAll('/', String.raw`\/`)]).filter((secret) => secret !== '');
  return written.reduce((rest, secret) => rest.replaceAll(secret, '•••'), text);
}

/** The object in the body of an answer; empty when there is none. */
export function readObject(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
