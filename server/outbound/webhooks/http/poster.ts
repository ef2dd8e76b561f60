import { Agent } from 'undici';
import type { Dispatcher } from 'undici';
import type { AddressRules } from '../../../platform/core/public-address.ts';
import type { AttemptResult } from '../types.ts';
import { errorCodeOf } from './error-code.ts';
import { guardedLookup } from './lookup.ts';
import type { ResolveName } from './lookup.ts';
import { checkTarget } from './target.ts';

/** A receiver sends a few headers and an empty body; more is not read. */
const MAX_HEADER_BYTES = 8 * 1024;
const MAX_ANSWER_BYTES = 16 * 1024;

export interface Message {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export interface PosterOptions {
  rules: AddressRules;
  resolve: ResolveName;
  /** A whole attempt, in milliseconds. */
  deadlineMs: number;
}

/**
 * Sends one message to an address that a user has chosen. Each attempt uses a new connection, checked when it is
 * made; redirects are not followed; everything that the receiver can make long has a limit.
 */
export class Poster {
  readonly #agent: Agent;
  readonly #dispatcher: Dispatcher;
  readonly #deadlineMs: number;

  constructor({ rules, resolve, deadlineMs }: PosterOptions) {
    this.#deadlineMs = deadlineMs;
    this.#agent = new Agent({
      connect: { lookup: guardedLookup(resolve, rules), timeout: deadlineMs },
      allowH2: false,
      headersTimeout: deadlineMs,
      bodyTimeout: deadlineMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      maxResponseSize: MAX_ANSWER_BYTES,
    });
    // A socket looks up only names; an address in the URL is checked before the connection.
    this.#dispatcher = this.#agent.compose((dispatch) => (options, handler) => {
      checkTarget(new URL(String(options.origin)), rules);
      return dispatch(options, handler);
    });
  }

  /** Never rejects. @param stop ends the attempt early */
  async post(message: Message, stop: AbortSignal): Promise<AttemptResult> {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(this.#deadlineMs)]);
    try {
      const url = new URL(message.url);
      const answer = await this.#dispatcher.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'Signalbox-Webhooks/1', ...message.headers },
        body: message.body,
        signal,
        reset: true,
      });
      await discard(answer.body, signal);
      return judge(answer.statusCode, answer.headers['retry-after']);
    } catch (error) {
      if (stop.aborted) return { outcome: 'stopped' };
      return { outcome: 'failed', status: null, error: errorCodeOf(error), retryAfter: undefined };
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

/** The status is known; the rest of the answer does not change it. */
async function discard(body: Dispatcher.ResponseData['body'], signal: AbortSignal): Promise<void> {
  await body.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => undefined);
}

function judge(status: number, header: string | string[] | undefined): AttemptResult {
  if (status >= 200 && status < 300) return { outcome: 'delivered', status };
  const retryAfter = Array.isArray(header) ? header[0] : header;
  return { outcome: 'failed', status, error: wordOfStatus(status), retryAfter };
}

function wordOfStatus(status: number): 'gone' | 'redirected' | 'http_status' {
  if (status === 410) return 'gone';
  return status >= 300 && status < 400 ? 'redirected' : 'http_status';
}
