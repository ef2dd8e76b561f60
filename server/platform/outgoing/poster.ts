import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { Agent } from 'undici';
import type { Dispatcher } from 'undici';
import { isLoopbackHost, isPublicAddress } from '../core/public-address.ts';
import type { AddressRules } from '../core/public-address.ts';
import { errorCodeOf } from './error-code.ts';
import type { ConnectionError } from './error-code.ts';
import { guardedLookup } from './lookup.ts';
import type { ResolveName } from './lookup.ts';
import { checkTarget } from './target.ts';

/** A receiver sends a few headers and an empty or short body; more is not read. */
const MAX_HEADER_BYTES = 8 * 1024;
const MAX_ANSWER_BYTES = 16 * 1024;
/** Names that are remembered as private: a team may send 30 codes an hour, and each attempt is over after seconds. */
const MOST_PRIVATE_NAMES = 10_000;

export interface Message {
  url: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string | Uint8Array;
}

export interface PosterOptions {
  rules: AddressRules;
  resolve: ResolveName;
  /** A whole attempt, in milliseconds. */
  deadlineMs: number;
  /** The longest answer, for one receiver that is known to have long ones; 16 KiB otherwise. */
  maxAnswerBytes?: number;
}

/** Aborted because this process is stopping; the attempt does not count. */
interface Stopped {
  outcome: 'stopped';
}

/** Result of an attempt that is judged by its status alone. */
export type PostResult =
  | { outcome: 'delivered'; status: number }
  | {
      outcome: 'failed';
      status: number | null;
      error: 'gone' | 'redirected' | 'http_status' | ConnectionError;
      retryAfter: string | undefined;
    }
  | Stopped;

/** The answer of a provider, whatever its status. */
export interface Answer {
  outcome: 'answered';
  status: number;
  /** The first value of each header, by its name in lower case. */
  headers: Readonly<Record<string, string>>;
  /** UTF-8, cut at the requested number of bytes. */
  body: string;
  /** It may come from a network of the operator: users may not read the body. */
  isPrivate: boolean;
}

export type AskResult = Answer | { outcome: 'failed'; error: ConnectionError } | Stopped;

/**
 * Sends one message to an address that a user has chosen. Each attempt uses a new connection, checked when it is
 * made; redirects are not followed; everything that the receiver can make long has a limit.
 */
export class Poster {
  readonly #agents: readonly Agent[];
  readonly #withTls: Dispatcher;
  readonly #plain: Dispatcher;
  readonly #deadlineMs: number;
  readonly #rules: AddressRules;
  /**
   * Names that have led into a network of the operator. A name stays here: its owner may let it lead there and to a public address in turns,
   * and which of them answered is not known.
   */
  readonly #privateNames = new LRUCache<string, true>({ max: MOST_PRIVATE_NAMES });

  constructor({ rules, resolve, deadlineMs, maxAnswerBytes = MAX_ANSWER_BYTES }: PosterOptions) {
    this.#deadlineMs = deadlineMs;
    this.#rules = rules;
    const make = (rules: AddressRules): { agent: Agent; dispatcher: Dispatcher } => {
      const agent = new Agent({
        connect: { lookup: guardedLookup(resolve, rules, (name, addresses) => this.#remember(name, addresses)), timeout: deadlineMs },
        allowH2: false,
        headersTimeout: deadlineMs,
        bodyTimeout: deadlineMs,
        maxHeaderSize: MAX_HEADER_BYTES,
        maxResponseSize: maxAnswerBytes,
      });
      // A socket looks up only names; an address in the URL is checked before the connection.
      const dispatcher = agent.compose((dispatch) => (options, handler) => {
        checkTarget(new URL(String(options.origin)), rules);
        return dispatch(options, handler);
      });
      return { agent, dispatcher };
    };
    const withTls = make(rules);
    // What a socket looks up says nothing about the scheme, so http has an agent of its own that reaches no public address.
    const plain = make({ ...rules, noPublic: true });
    this.#agents = [withTls.agent, plain.agent];
    this.#withTls = withTls.dispatcher;
    this.#plain = plain.dispatcher;
  }

  /** Judges the attempt by the status. Never rejects. @param stop ends the attempt early */
  async post(message: Message, stop: AbortSignal): Promise<PostResult> {
    const result = await this.ask(message, stop, 0);
    if (result.outcome === 'answered') return judge(result);
    return result.outcome === 'stopped' ? result : { ...result, status: null, retryAfter: undefined };
  }

  /**
   * Sends the message and reads the answer. Never rejects.
   * @param stop ends the attempt early
   * @param readBytes how much of the answer's body is read, at most the longest answer; the rest is dropped
   */
  async ask(message: Message, stop: AbortSignal, readBytes: number): Promise<AskResult> {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(this.#deadlineMs)]);
    try {
      const url = new URL(message.url);
      const answer = await (url.protocol === 'http:' ? this.#plain : this.#withTls).request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'Signalbox-Webhooks/1', ...message.headers },
        body: message.body,
        signal,
        reset: true,
      });
      const body = readBytes === 0 ? await discard(answer.body, signal) : await readStart(answer.body, readBytes);
      const isPrivate = this.#isPrivate(url.hostname);
      return { outcome: 'answered', status: answer.statusCode, headers: firstValues(answer.headers), body, isPrivate };
    } catch (error) {
      if (stop.aborted) return { outcome: 'stopped' };
      return { outcome: 'failed', error: errorCodeOf(error) };
    }
  }

  #remember(name: string, addresses: readonly string[]): void {
    if (addresses.some((address) => this.#isInside(address))) this.#privateNames.set(name.toLowerCase(), true);
  }

  #isPrivate(hostname: string): boolean {
    const host = hostname.replace(/^\[|\]$/g, '');
    return isIP(host) === 0 ? this.#privateNames.has(host) : this.#isInside(host);
  }

  /** In the operator's networks. This machine itself is a developer's, if it is allowed at all. */
  #isInside(address: string): boolean {
    return !isPublicAddress(address) && !(this.#rules.allowLoopback && isLoopbackHost(address));
  }

  async close(): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent.destroy()));
  }
}

/** The status is known; the rest of the answer does not change it. */
async function discard(body: Dispatcher.ResponseData['body'], signal: AbortSignal): Promise<string> {
  await body.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => undefined);
  return '';
}

/** What has arrived until the limit, the deadline or a broken connection: the status is known, and the text only explains it. */
async function readStart(body: Dispatcher.ResponseData['body'], limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      // Leaving the loop destroys the body, and with it the connection.
      if (size >= limit) break;
    }
  } catch {
    // The part that is there counts.
  }
  return Buffer.concat(chunks).subarray(0, limit).toString('utf8');
}

function firstValues(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const first: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const text = Array.isArray(value) ? value[0] : value;
    if (text !== undefined) first[name] = text;
  }
  return first;
}

function judge({ status, headers }: Answer): PostResult {
  if (status >= 200 && status < 300) return { outcome: 'delivered', status };
  return { outcome: 'failed', status, error: wordOfStatus(status), retryAfter: headers['retry-after'] };
}

function wordOfStatus(status: number): 'gone' | 'redirected' | 'http_status' {
  if (status === 410) return 'gone';
  return status >= 300 && status < 400 ? 'redirected' : 'http_status';
}
