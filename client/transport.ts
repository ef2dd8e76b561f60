import { ConnectionError, ProblemError } from './errors.ts';
import type { Problem } from './generated.ts';

export interface TransportOptions {
  /** `https://signalbox.example.org`, with the path in front of /api if there is one. */
  server: string;
  /** `<token_id>:<team_id>:<secret>`, or what gives the credential for each request: an access token does not live long. */
  key: string | (() => string | Promise<string>);
  fetch?: typeof globalThis.fetch;
  /** Retries of a request that was rate-limited (429) or got no answer. Default: 3. */
  retries?: number;
  /** Longest pause before a retry, milliseconds. Default: one minute, the window of the rate limit. */
  longestPauseMs?: number;
  /** Called before each pause. */
  onPause?: (pause: Pause) => void;
  /** Waits; for tests. */
  pause?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** Why a retry waits. */
export type PauseReason = 'rate_limited' | 'unavailable' | 'in_progress' | 'no_answer';

export interface Pause {
  reason: PauseReason;
  ms: number;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Longest wait for one answer, milliseconds. */
  timeoutMs?: number;
  /** Sent with a POST or PATCH, so that a retry does nothing twice. Default: a new one for each call. */
  idempotencyKey?: string;
}

export interface Request extends CallOptions {
  method: string;
  /** Path with query. */
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** A command may take 120 s on the router, plus time for the answer. */
const TIMEOUT_MS = 150_000;
const RETRIES = 3;
const LONGEST_PAUSE_MS = 60_000;
const FIRST_PAUSE_MS = 250;

/** Sends requests with authentication, retries and typed errors. */
export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** @throws ProblemError for every status over 299, ConnectionError without an answer, the signal's reason when aborted */
  async json(request: Request): Promise<{ body: unknown; headers: Headers }> {
    const { answer, text } = await this.#retrying(withKey(request), async (attempt) => {
      const answer = await this.#fetch(attempt);
      return { answer, text: await answer.text() };
    });
    return { body: text === '' ? undefined : parseAnswer(answer.status, text), headers: answer.headers };
  }

  /** Resolves when the headers have arrived; the caller reads the body. Throws like {@link json}. */
  async open(request: Request): Promise<Response> {
    const { answer } = await this.#retrying(request, async (attempt) => {
      const answer = await this.#fetch(attempt);
      return { answer, text: answer.ok ? '' : await answer.text() };
    });
    return answer;
  }

  async #retrying<T extends { answer: Response; text: string }>(request: Request, send: (request: Request) => Promise<T>): Promise<T> {
    const { retries = RETRIES } = this.#options;
    let waitLeftMs = request.timeoutMs ?? TIMEOUT_MS;
    for (let attempt = 0; ; attempt += 1) {
      const isLast = attempt >= retries;
      request.signal?.throwIfAborted();
      try {
        const result = await send(request);
        if (result.answer.ok) return result;
        const problem = problemOf(result.answer, result.text);
        const askedToWaitMs = secondsOf(result.answer) * 1000;
        if (problem.code === 'in_progress' && waitLeftMs > 0) {
          // An earlier attempt, whose connection broke, is still running; a retry gets its answer.
          waitLeftMs -= askedToWaitMs;
          attempt -= 1;
          await this.#pause('in_progress', askedToWaitMs, request.signal);
          continue;
        }
        if (isLast || !isTemporary(problem)) throw problem;
        if (problem.status === 429) await this.#pause('rate_limited', askedToWaitMs, request.signal);
        else await this.#pause('unavailable', backOffMs(attempt), request.signal);
      } catch (error) {
        request.signal?.throwIfAborted();
        if (error instanceof ProblemError) throw error;
        if (isLast || isTimeout(error)) throw connectionError(this.#options.server, request, error);
        await this.#pause('no_answer', backOffMs(attempt), request.signal);
      }
    }
  }

  async #fetch({ method, path, body, headers = {}, signal, timeoutMs = TIMEOUT_MS }: Request): Promise<Response> {
    // Not as a method of the options: a browser's fetch works with its own window only.
    const { server, key, fetch = globalThis.fetch.bind(globalThis) } = this.#options;
    const credential = typeof key === 'string' ? key : await askFor(key);
    const signals = [...(signal ? [signal] : []), ...(timeoutMs === Infinity ? [] : [AbortSignal.timeout(timeoutMs)])];
    return fetch(`${server.replace(/\/+$/, '')}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${credential}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // A redirect must not carry the key to another host.
      redirect: 'error',
      signal: AbortSignal.any(signals),
    });
  }

  async #pause(reason: PauseReason, askedMs: number, signal: AbortSignal | undefined): Promise<void> {
    const { pause = pauseFor, onPause, longestPauseMs = LONGEST_PAUSE_MS } = this.#options;
    const ms = Math.min(askedMs, longestPauseMs);
    onPause?.({ reason, ms });
    await pause(ms, signal);
  }
}

/** There was no credential, so nothing was sent. */
class NoCredential extends Error {
  override readonly name = 'NoCredential';
}

async function askFor(key: () => string | Promise<string>): Promise<string> {
  try {
    return await key();
  } catch (cause) {
    throw new NoCredential('no credential', { cause });
  }
}

/** Resolves after this time, milliseconds. @throws the signal's reason */
export function pauseFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** A random UUID. `crypto.randomUUID` is missing in pages of plain http. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function withKey(request: Request): Request {
  if (request.method !== 'POST' && request.method !== 'PATCH') return request;
  return { ...request, headers: { ...request.headers, 'idempotency-key': request.idempotencyKey ?? randomKey() } };
}

function parseAnswer(status: number, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProblemError(status, { code: 'unexpected_answer', message: 'this is not an answer of a Signalbox control plane' });
  }
}

function problemOf(answer: Response, text: string): ProblemError {
  try {
    return new ProblemError(answer.status, JSON.parse(text) as Partial<Problem>);
  } catch {
    // Not from the control plane: the error page of a proxy.
    return new ProblemError(answer.status, {});
  }
}

/** Nothing was done, and a retry may succeed: too many requests, or a server that restarts. */
function isTemporary({ status, code }: ProblemError): boolean {
  return status === 429 || code === 'unavailable';
}

function backOffMs(attempt: number): number {
  return FIRST_PAUSE_MS * 2 ** attempt * (0.5 + Math.random());
}

function secondsOf(answer: Response): number {
  const seconds = Number(answer.headers.get('retry-after'));
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 1;
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

/** Connection errors after which nothing was sent. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

function connectionError(server: string, { method }: Request, error: unknown): ConnectionError {
  const { cause } = error as { cause?: { code?: string; message?: string } };
  const reason = isTimeout(error) ? 'no answer in time' : (cause?.code ?? cause?.message ?? (error as Error).message);
  const didNothing = method === 'GET' || error instanceof NoCredential || NEVER_SENT.has(cause?.code ?? '');
  return new ConnectionError(`${server}: ${reason}`, !didNothing, error);
}
