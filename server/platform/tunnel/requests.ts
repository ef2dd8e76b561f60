import { MAX_OPEN_REQUESTS, MAX_REPLY_BYTES, PendingRequests } from '../../../protocol/index.ts';
import { FairShares } from '../../../runtime/fair-shares.ts';
import type { AgentMessage, ReplyOutcome, Request, ServerMessage } from '../../../protocol/index.ts';
import type { RequestOptions, RequestParams, RequestResult } from '../core/agent-gateway.ts';
import type { Clock, Timer } from '../core/clock.ts';
import type { Counters } from '../core/counters.ts';
import { AppError } from '../core/errors.ts';
import { releaseAdmissionSlot } from '../core/admission-slot.ts';
import type { Sent } from './send-queue.ts';
import { replyErrorToAppError } from './reply-errors.ts';
import type { TunnelReplies } from './reply-memory.ts';

type Rows = Extract<AgentMessage, { type: 'rows' }>;
type Reply = Extract<AgentMessage, { type: 'reply' }>;
type OkResult = Extract<ReplyOutcome, { ok: true }>['result'];

interface OpenRequest {
  method: Request['method'];
  onRows: RequestOptions['onRows'];
  /** Size of all rows so far. */
  bytes: number;
  /** When the last of them arrived, in monotonic time; 0 before the first. */
  grewAt: number;
  stall: Timer | undefined;
}

/** The longest pause within a reply: the slowest usable connection transfers a batch of 64 kB in half of it. */
export const STALL_MS = 30_000;

export interface AgentRequestsDeps {
  clock: Clock;
  counters: Counters;
  memory: TunnelReplies;
  send(message: ServerMessage): Sent;
}

/** How much sooner than the caller the agent times out, so that the agent's own error arrives in time. */
const ALLOWANCE_MS = 250;

/** The agent's timeout: slightly shorter than the caller's, so that its more precise error arrives first. */
export function agentTimeoutMs(timeoutMs: number): number {
  return Math.max(0, Math.floor(timeoutMs - Math.min(ALLOWANCE_MS, timeoutMs / 10)));
}

const NO_ROOM = {
  replies_per_tunnel:
    'too many large answers of this agent are under way; this one was given up and its outcome is unknown: ask for fewer at a time',
  replies_per_team:
    'too many large answers of your team are under way; this one was given up and its outcome is unknown: ask for fewer at a time',
  replies_in_all: 'too many large answers are under way; this one was given up and its outcome is unknown: try again later',
} as const;

const unknown = (message: string): AppError => new AppError('outcome_unknown', message);

/** The open requests on one tunnel. All end with it. */
export class AgentRequests {
  readonly #deps: AgentRequestsDeps;
  readonly #pending: PendingRequests<OpenRequest, OkResult>;
  /** Shared among the agent's routers: a router that hangs may use at most as many as it leaves to the others. */
  readonly #shares = new FairShares({ total: MAX_OPEN_REQUESTS, perParty: Infinity, perMember: Infinity });

  /** The agent has not answered all of them. */
  get hasOpen(): boolean {
    return this.#pending.size > 0;
  }

  constructor(deps: AgentRequestsDeps) {
    this.#deps = deps;
    this.#pending = new PendingRequests(deps.clock);
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Sends a request and waits for its reply. @throws AppError as {@link AgentGateway.request} says */
  async request<M extends Request['method']>(method: M, params: RequestParams<M>, options: RequestOptions): Promise<RequestResult<M>> {
    if (options.signal?.aborted) throw new AppError('unavailable', 'the request was given up before it was sent');
    const holder = { party: 'router' in params ? params.router : '' };
    const limit = this.#shares.limitFor(holder);
    if (!this.#shares.take(holder)) {
      throw new AppError('unavailable', `too many requests under way ${limit === 'party' ? 'on this router' : 'on this agent'}`);
    }
    const asked: OpenRequest = { method, onRows: options.onRows, bytes: 0, grewAt: 0, stall: undefined };
    const { id, answer } = this.#pending.open(asked, {
      timeoutMs: options.timeoutMs,
      signal: options.signal,
      onExpiry: (why, id) => this.#expire(why, id),
    });
    const request = { type: 'request', id, remaining_ms: agentTimeoutMs(options.timeoutMs), method, params } as Request;
    const sent = this.#deps.send(request);
    if (sent === 'sent') releaseAdmissionSlot();
    else this.#pending.reject(id, notSent(sent));
    try {
      const { method: _, ...result } = await answer;
      return result as RequestResult<M>;
    } finally {
      this.#shares.giveBack(holder);
      asked.stall?.cancel();
      this.#deps.memory.give(asked.bytes);
      // Rows that arrive later find no request and are dropped.
      asked.onRows = undefined;
    }
  }

  onRows(message: Rows, bytes: number): void {
    const asked = this.#pending.context(message.id);
    if (!asked) return;
    asked.bytes += bytes;
    asked.grewAt = this.#deps.clock.monotonic();
    asked.stall ??= this.#watchStall(message.id, asked, STALL_MS);
    const full = this.#deps.memory.take(bytes);
    if (full !== undefined) {
      this.#deps.counters.add(full);
      this.#giveUp(message.id, new AppError('outcome_unknown', NO_ROOM[full], { extra: { reason: full } }));
      return;
    }
    if (asked.bytes > MAX_REPLY_BYTES) {
      this.#giveUp(
        message.id,
        new AppError('too_large', `the answer is larger than ${MAX_REPLY_BYTES} bytes: ask for fewer rows or properties`),
      );
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

  /** Part of this reply could not be read: the outcome is unknown, and the tunnel stays open. */
  onInvalid(id: number): void {
    this.#giveUp(id, unknown('the agent sent an answer that could not be read'));
  }

  /** The tunnel has ended. */
  close(): void {
    this.#pending.rejectAll(() => unknown('the connection to the agent broke before it answered'));
  }

  #expire(why: 'timeout' | 'aborted', id: number): AppError {
    this.#deps.send({ type: 'cancel', id });
    return unknown(why === 'timeout' ? 'no answer in time: the outcome is unknown' : 'given up before the answer: the outcome is unknown');
  }

  /** Ends a stalled reply before its caller's deadline, because its rows take memory. */
  #watchStall(id: number, asked: OpenRequest, ms: number): Timer {
    return this.#deps.clock.setTimeout(() => {
      const leftMs = asked.grewAt + STALL_MS - this.#deps.clock.monotonic();
      if (leftMs > 0) {
        asked.stall = this.#watchStall(id, asked, leftMs);
        return;
      }
      this.#deps.counters.add('reply_stalled');
      this.#giveUp(id, unknown(`the answer began and then stopped for ${STALL_MS / 1000} seconds: the outcome is unknown`));
    }, ms);
  }

  #giveUp(id: number, error: AppError): void {
    if (this.#pending.reject(id, error)) this.#deps.send({ type: 'cancel', id });
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
