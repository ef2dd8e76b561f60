import { MAX_OPEN_REQUESTS } from '../../protocol/index.ts';
import { FairShares } from '../../runtime/fair-shares.ts';
import type { AgentMessage, ReplyError, ReplyOutcome, Request } from '../../protocol/index.ts';
import type { Clock } from '../core/clock.ts';
import { AgentError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { rowBatches } from './row-batches.ts';
import type { RequestContext, RequestHandlers } from './types.ts';

/** Unsent bytes of rows above which the handler waits for the network: a few batches. */
const ROWS_HIGH_WATER_BYTES = 256 * 1024;

/** The part of the session that sends replies. */
export interface ReplyPort {
  /** @returns false when the message was not sent: too large, or the tunnel is gone */
  send(message: AgentMessage, sent?: () => void): boolean;
  readonly bufferedAmount: number;
}

interface Served {
  abort: AbortController;
  done: Promise<void>;
}

/** The server's open requests on one tunnel. All are aborted when it ends. */
export class ServedRequests {
  readonly #handlers: RequestHandlers;
  readonly #port: ReplyPort;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #open = new Map<number, Served>();
  /** Shares by router, so that one router that hangs cannot use up all requests. */
  readonly #shares = new FairShares({ total: MAX_OPEN_REQUESTS, perParty: Infinity, perMember: Infinity });

  constructor(handlers: RequestHandlers, port: ReplyPort, clock: Clock, log: Log) {
    this.#handlers = handlers;
    this.#port = port;
    this.#clock = clock;
    this.#log = log;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Starts a request. Ignores an id that is already open; refuses a request above the limits. */
  serve(request: Request): void {
    if (this.#open.has(request.id)) return;
    const holder = { party: 'router' in request.params ? request.params.router : '' };
    if (!this.#shares.take(holder)) {
      this.#reply(request.id, { ok: false, error: { code: 'internal', message: 'too many requests at once' } });
      return;
    }
    const abort = new AbortController();
    const timer = this.#clock.setTimeout(() => {
      abort.abort(new AgentError('outcome_unknown', 'the router did not answer in time'));
    }, request.remaining_ms);
    const done = this.#run(request, abort.signal).finally(() => {
      timer.cancel();
      this.#shares.giveBack(holder);
      this.#open.delete(request.id);
    });
    this.#open.set(request.id, { abort, done });
  }

  /** The server no longer wants the answer. */
  cancel(id: number): void {
    this.#open.get(id)?.abort.abort();
  }

  /** The tunnel is gone: no reply can be sent. */
  abortAll(): void {
    for (const { abort } of this.#open.values()) abort.abort();
  }

  /** Settles when all requests that are open now have ended. */
  async idle(): Promise<void> {
    await Promise.all(Array.from(this.#open.values(), ({ done }) => done));
  }

  /** Never rejects: every result is a reply. */
  async #run(request: Request, signal: AbortSignal): Promise<void> {
    let outcome: ReplyOutcome;
    try {
      outcome = { ok: true, result: await this.#handle(request, this.#context(request, signal)) };
    } catch (error) {
      if (!(error instanceof AgentError)) this.#log.error({ err: error, method: request.method }, 'request handler failed');
      outcome = { ok: false, error: toReplyError(error) };
    }
    this.#reply(request.id, outcome);
  }

  async #handle(request: Request, context: RequestContext): Promise<Extract<ReplyOutcome, { ok: true }>['result']> {
    switch (request.method) {
      case 'command':
        return { method: 'command', ...(await this.#handlers.command(request.params, context)) };
      case 'forward.open':
        return { method: 'forward.open', ...(await this.#handlers['forward.open'](request.params, context)) };
      case 'forward.close':
        return { method: 'forward.close', ...(await this.#handlers['forward.close'](request.params, context)) };
      case 'backup.take':
        return { method: 'backup.take', ...(await this.#handlers['backup.take'](request.params, context)) };
      case 'backup.read':
        return { method: 'backup.read', ...(await this.#handlers['backup.read'](request.params, context)) };
      case 'backup.remove':
        return { method: 'backup.remove', ...(await this.#handlers['backup.remove'](request.params, context)) };
      case 'terminal.open':
        return { method: 'terminal.open', ...(await this.#handlers['terminal.open'](request.params, context)) };
      case 'terminal.close':
        return { method: 'terminal.close', ...(await this.#handlers['terminal.close'](request.params, context)) };
    }
  }

  #context({ id, remaining_ms: timeoutMs }: Request, signal: AbortSignal): RequestContext {
    return { timeoutMs, signal, sendRows: (rows) => this.#sendRows(id, rows, signal) };
  }

  async #sendRows(id: number, rows: Record<string, string>[], signal: AbortSignal): Promise<void> {
    for (const batch of rowBatches(rows)) {
      if (signal.aborted) throw new AgentError('outcome_unknown', 'the caller cancelled during the answer');
      await this.#sendBatch({ type: 'rows', id, rows: batch }, signal);
    }
  }

  /** Waits only while many bytes are unsent. */
  async #sendBatch(message: AgentMessage, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (!this.#port.send(message, resolve)) {
      throw new AgentError(signal.aborted ? 'outcome_unknown' : 'unsupported', 'the answer has a row too large for the tunnel');
    }
    if (this.#port.bufferedAmount <= ROWS_HIGH_WATER_BYTES) return;
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
  }

  #reply(id: number, outcome: ReplyOutcome): void {
    if (this.#port.send({ type: 'reply', id, outcome })) return;
    this.#port.send({
      type: 'reply',
      id,
      outcome: { ok: false, error: { code: 'outcome_unknown', message: 'the answer is too large for the tunnel' } },
    });
  }
}

function toReplyError(error: unknown): ReplyError {
  if (!(error instanceof AgentError)) return { code: 'internal', message: 'the agent failed on this request' };
  const { code, category, terminal } = error;
  const known = category !== undefined && Number.isInteger(category) && category >= 0 && category <= 7;
  return {
    code,
    message: error.message.slice(0, 4096),
    ...(known ? { category } : {}),
    ...(terminal === undefined ? {} : { reason: terminal }),
  };
}
