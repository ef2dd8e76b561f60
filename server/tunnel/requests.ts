import { MAX_OPEN_REQUESTS, MAX_REPLY_BYTES, PendingRequests } from '../../protocol/index.ts';
import type { AgentMessage, ReplyOutcome, Request, ServerMessage, Timers } from '../../protocol/index.ts';
import type { RequestOptions, RequestParams, RequestResult } from '../core/agent-gateway.ts';
import { AppError } from '../core/errors.ts';
import type { Sent } from './outbox.ts';
import { replyErrorToAppError } from './reply-errors.ts';

type Rows = Extract<AgentMessage, { type: 'rows' }>;
type Reply = Extract<AgentMessage, { type: 'reply' }>;
type OkResult = Extract<ReplyOutcome, { ok: true }>['result'];

interface Asked {
  method: Request['method'];
  onRows: RequestOptions['onRows'];
  /** Size of all rows so far. */
  bytes: number;
}

/** A caller that asks for an answer within t gets the agent's own "not in time" if that comes a little sooner. */
const ALLOWANCE_MS = 250;

/** The time the agent is given out of the caller's: a little less, so that its more precise answer arrives first. */
export function agentShare(timeoutMs: number): number {
  return Math.max(0, Math.floor(timeoutMs - Math.min(ALLOWANCE_MS, timeoutMs / 10)));
}

const unknown = (message: string): AppError => new AppError('outcome_unknown', message);

/** The server's open requests on one tunnel. All end with it. */
export class AgentRequests {
  readonly #send: (message: ServerMessage) => Sent;
  readonly #pending: PendingRequests<Asked, OkResult>;

  constructor(timers: Timers, send: (message: ServerMessage) => Sent) {
    this.#send = send;
    this.#pending = new PendingRequests(timers);
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Sends a request and waits for its reply. @throws AppError as {@link AgentGateway.request} says */
  async ask<M extends Request['method']>(
    method: M,
    params: RequestParams<M>,
    options: RequestOptions,
  ): Promise<RequestResult<M>> {
    if (options.signal?.aborted) throw new AppError('unavailable', 'the request was given up before it was sent');
    if (this.#pending.size >= MAX_OPEN_REQUESTS) throw new AppError('unavailable', 'too many requests under way on this agent');
    const { id, answer } = this.#pending.open(
      { method, onRows: options.onRows, bytes: 0 },
      { timeoutMs: options.timeoutMs, signal: options.signal, onExpiry: (why, id) => this.#expire(why, id) },
    );
    const request = { type: 'request', id, remaining_ms: agentShare(options.timeoutMs), method, params } as Request;
    const sent = this.#send(request);
    if (sent !== 'sent') this.#pending.reject(id, notSent(sent));
    const { method: _, ...result } = await answer;
    return result as RequestResult<M>;
  }

  onRows(message: Rows, bytes: number): void {
    const asked = this.#pending.context(message.id);
    if (!asked) return;
    asked.bytes += bytes;
    if (asked.bytes > MAX_REPLY_BYTES) {
      this.#giveUp(message.id, new AppError('too_large', `the answer is larger than ${MAX_REPLY_BYTES} bytes: ask for fewer rows or properties`));
      return;
    }
    try {
      asked.onRows?.(message.rows);
    } catch (error) {
      this.#giveUp(message.id, new AppError('internal', 'the answer could not be taken', { cause: error }));
    }
  }

  onReply(message: Reply): void {
    const asked = this.#pending.context(message.id);
    if (!asked) return;
    const { outcome } = message;
    if (!outcome.ok) this.#pending.reject(message.id, replyErrorToAppError(outcome.error));
    else if (outcome.result.method === asked.method) this.#pending.resolve(message.id, outcome.result);
    else this.onInvalid(message.id);
  }

  /** Part of the answer to this request could not be read: what the router did is not known, the tunnel goes on. */
  onInvalid(id: number): void {
    this.#giveUp(id, unknown('the agent sent an answer that could not be read'));
  }

  /** The tunnel is over. */
  close(): void {
    this.#pending.rejectAll(() => unknown('the connection to the agent broke before it answered'));
  }

  #expire(why: 'timeout' | 'aborted', id: number): AppError {
    this.#send({ type: 'cancel', id });
    return unknown(why === 'timeout' ? 'no answer in time: the outcome is unknown' : 'given up before the answer: the outcome is unknown');
  }

  #giveUp(id: number, error: AppError): void {
    if (this.#pending.reject(id, error)) this.#send({ type: 'cancel', id });
  }
}

function notSent(why: Exclude<Sent, 'sent'>): AppError {
  switch (why) {
    case 'too_large':
      return new AppError('too_large', 'the request is too large for the tunnel');
    case 'congested':
      return new AppError('unavailable', 'the agent does not keep up with what it is sent');
    case 'closed':
      return new AppError('agent_offline', 'the agent is not connected');
  }
}
