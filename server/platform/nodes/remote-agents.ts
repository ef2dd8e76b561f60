import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { MAX_REPLY_BYTES } from '../../../protocol/index.ts';
import type { Request } from '../../../protocol/index.ts';
import { NobodyListensError } from '../bus/errors.ts';
import type { Bus, Call } from '../bus/types.ts';
import { releaseAdmissionSlot } from '../core/admission-slot.ts';
import type { AgentGateway, Notice, RequestOptions, RequestParams, RequestResult } from '../core/agent-gateway.ts';
import type { Clock } from '../core/clock.ts';
import type { Counters } from '../core/counters.ts';
import { AppError } from '../core/errors.ts';
import type { Listeners } from '../core/listeners.ts';
import type { EndedBy } from '../core/tunnel-record.ts';
import { TUNNEL_ENDS } from '../core/tunnel-record.ts';
import { MovingAgents } from './moving-agents.ts';

/** About 100 bytes each: 10 MB for a fleet of this size. A holder that is not remembered is read by its key. */
const REMEMBERED_HOLDERS = 100_000;

/** Incomplete replies from other control planes: as many as this one takes from its own agents (tunnel/reply-memory.ts). */
const UNFINISHED_BYTES = 12 * MAX_REPLY_BYTES;

const RETRY = { retryAfterMs: 2000 };

const HELD = 'signalbox.agents.held';
const LEAVES = 'signalbox.agents.leaves';
const DISCONNECT = 'signalbox.agents.disconnect';
const requestsOf = (nodeId: string): string => `signalbox.node.${nodeId}.request`;
const noticesOf = (nodeId: string): string => `signalbox.node.${nodeId}.notice`;

/** Whoever has the agent answers at once. */
const NOTICE_MS = 2000;
/** Notices on their way to other control planes: what is beyond is lost, as if the agent had just gone. */
const MOST_NOTICES = 10_000;

const question = z.object({ agent_id: z.string(), method: z.string(), params: z.record(z.string(), z.unknown()) });
const noticeQuestion = z.object({ agent_id: z.string(), message: z.looseObject({ type: z.string() }) });
const noticeAnswer = z.object({ held: z.boolean() });
const rowsItem = z.array(z.record(z.string(), z.string()));
const answer = z.discriminatedUnion('held', [
  z.object({ held: z.literal(true), result: z.record(z.string(), z.unknown()) }),
  // It was sent away, and is waited for so long yet. Missing from programs that do not say so, and when it was not.
  z.object({ held: z.literal(false), for_ms: z.number().nonnegative().optional() }),
]);
const heldHint = z.object({ agent_id: z.string(), node_id: z.string(), epoch: z.number() });
const leavesHint = z.object({ agent_id: z.string(), for_ms: z.number().nonnegative() });
const disconnectHint = z.object({ agent_id: z.string(), reason: z.enum(['revoked', 'restart']), ended_by: z.enum(TUNNEL_ENDS).optional() });

/** The tunnels of this process. */
export interface LocalAgents extends AgentGateway {
  /** Another control plane has a newer tunnel of this agent: closes those before it. */
  closeOlder(agentId: string, epoch: number): void;
}

export interface RemoteAgentsDeps {
  /** This control plane. */
  nodeId: string;
  bus: Bus;
  /** Whether the others may still count on this control plane (nodes/beat.ts). */
  isCounted: () => boolean;
  /** The ids of control planes that have ended, or that do not count any more. */
  gone: Pick<Listeners<string>, 'subscribe'>;
  local: LocalAgents;
  /** Which control plane has the agent's tunnel, as the database knows. */
  holder: (agentId: string) => Promise<string | undefined>;
  /** Whether another control plane has the agent's tunnel, as far as is known without a query. */
  isElsewhere: (agentId: string) => boolean;
  clock: Pick<Clock, 'monotonic' | 'setTimeout'>;
  counters: Counters;
}

/**
 * Agents of several control planes: a request goes to the one that has the agent's tunnel. Who that is comes from the database and is
 * remembered. A wrong memory does no harm: whoever is asked in vain says so, and nothing was sent to the agent.
 */
export class RemoteAgents implements AgentGateway {
  readonly #deps: RemoteAgentsDeps;
  readonly #holders = new LRUCache<string, string>({ max: REMEMBERED_HOLDERS });
  /** What ends the requests that wait for a control plane, by its id. */
  readonly #waiting = new Map<string, Set<AbortController>>();
  #unfinishedBytes = 0;
  /** Which control plane has the agent, while that is read, by agent. */
  readonly #reads = new Map<string, Promise<string | undefined>>();
  #notices = 0;
  readonly #moving: MovingAgents;

  constructor(deps: RemoteAgentsDeps) {
    this.#deps = deps;
    this.#moving = new MovingAgents(deps.clock);
    const { bus, nodeId, local, gone } = deps;
    gone.subscribe((id) => this.#onGone(id));
    bus.answer(requestsOf(nodeId), (value, call) => this.#answer(value, call));
    bus.answer(noticesOf(nodeId), async (value) => {
      const { agent_id: agentId, message } = noticeQuestion.parse(value);
      // The agent checks its form.
      return { held: local.notify(agentId, message as Notice) };
    });
    bus.listen(HELD, (value) => {
      const { agent_id: agentId, node_id: holder, epoch } = heldHint.parse(value);
      this.#holders.set(agentId, holder);
      local.closeOlder(agentId, epoch);
      this.#moving.end(agentId);
    });
    bus.listen(LEAVES, (value) => {
      const { agent_id: agentId, for_ms: forMs } = leavesHint.parse(value);
      this.#moving.begin(agentId, forMs);
    });
    bus.listen(DISCONNECT, (value) => {
      const { agent_id: agentId, reason, ended_by: endedBy } = disconnectHint.parse(value);
      local.disconnect(agentId, reason, endedBy);
    });
  }

  /** After the callers are gone. */
  stop(): void {
    this.#moving.stop();
  }

  /** Tells the others that this control plane has the agent's newest tunnel now. */
  announce(agentId: string, epoch: number): void {
    this.#holders.delete(agentId);
    this.#deps.bus.publish(HELD, { agent_id: agentId, node_id: this.#deps.nodeId, epoch });
    this.#moving.end(agentId);
  }

  /** This control plane sends the agent to another one: what it is asked anywhere waits for its new tunnel, at most so long. */
  leaves(agentId: string, forMs: number): void {
    this.#moving.begin(agentId, forMs);
    this.#deps.bus.publish(LEAVES, { agent_id: agentId, for_ms: forMs });
  }

  /** Whether an agent that was sent away has no other tunnel yet, as far as this control plane was told. */
  isOnItsWay(agentId: string): boolean {
    return this.#moving.has(agentId);
  }

  async request<M extends Request['method']>(
    agentId: string,
    method: M,
    params: RequestParams<M>,
    options: RequestOptions,
  ): Promise<RequestResult<M>> {
    const { local, clock } = this.#deps;
    const endsAt = clock.monotonic() + options.timeoutMs;
    await this.#arrival(agentId, options.signal, endsAt);
    let result = await this.#send(agentId, method, params, options, endsAt);
    if (!result && this.#moving.has(agentId)) {
      // It was sent away meanwhile.
      await this.#arrival(agentId, options.signal, endsAt);
      result = await this.#send(agentId, method, params, options, endsAt);
    }
    if (result) return result;
    // The tunnel that it still has takes no more requests.
    if (this.#moving.has(agentId)) throw new AppError('agent_offline', 'the agent is on its way to another control plane', RETRY);
    // Not connected anywhere, or here by now.
    return local.request(agentId, method, params, { ...options, timeoutMs: endsAt - clock.monotonic() });
  }

  async #arrival(agentId: string, signal: AbortSignal | undefined, endsAt: number): Promise<void> {
    if (!this.#moving.has(agentId)) return;
    releaseAdmissionSlot();
    await this.#moving.ended(agentId, { timeoutMs: endsAt - this.#deps.clock.monotonic(), signal });
  }

  /** @returns undefined when the agent has no tunnel that takes requests: nothing was sent to it */
  async #send<M extends Request['method']>(
    agentId: string,
    method: M,
    params: RequestParams<M>,
    options: RequestOptions,
    endsAt: number,
  ): Promise<RequestResult<M> | undefined> {
    const { local, clock } = this.#deps;
    if (this.#moving.has(agentId)) return undefined;
    if (local.epoch(agentId) !== undefined)
      return local.request(agentId, method, params, { ...options, timeoutMs: endsAt - clock.monotonic() });
    const remembered = this.#holders.get(agentId);
    const isRead = remembered === undefined;
    const holder = remembered ?? (await this.#read(agentId));
    const first = await this.#ask(holder, agentId, method, params, options, endsAt);
    if (first) return first;
    // Its tunnel has moved. What was read just now is not read again, unless it was there and is gone.
    const next = isRead && holder === undefined ? undefined : await this.#read(agentId);
    if (next === holder) return undefined;
    const moved = await this.#ask(next, agentId, method, params, options, endsAt);
    // The former one may not know yet, and have said that it is on its way.
    if (moved) this.#moving.end(agentId);
    return moved;
  }

  /** To an agent of another control plane it is on its way when this returns true; whether it arrives is not known. */
  notify(agentId: string, message: Notice): boolean {
    return this.#tell(agentId, message) !== undefined;
  }

  async deliver(agentId: string, message: Notice): Promise<void> {
    await this.#tell(agentId, message);
  }

  epoch(agentId: string): number | undefined {
    return this.#deps.local.epoch(agentId);
  }

  isConnected(agentId: string): boolean {
    return this.#deps.local.isConnected(agentId) || this.#deps.isElsewhere(agentId);
  }

  disconnect(agentId: string, reason: 'revoked' | 'restart', endedBy?: EndedBy): void {
    const { local, bus } = this.#deps;
    local.disconnect(agentId, reason, endedBy);
    bus.publish(DISCONNECT, { agent_id: agentId, reason, ended_by: endedBy });
  }

  /** @returns undefined when it was certainly not sent */
  #tell(agentId: string, message: Notice): Promise<void> | undefined {
    const { local, bus } = this.#deps;
    if (local.notify(agentId, message)) return Promise.resolve();
    if (!bus.isConnected || this.#notices >= MOST_NOTICES) return undefined;
    this.#notices += 1;
    return this.#pass(agentId, message).finally(() => (this.#notices -= 1));
  }

  /** Never rejects: whoever sends a notice finds its loss by what follows. It is sent a second time only when it certainly did not arrive. */
  async #pass(agentId: string, message: Notice): Promise<void> {
    try {
      const remembered = this.#holders.get(agentId);
      const holder = remembered ?? (await this.#readOnce(agentId));
      if ((await this.#passTo(holder, agentId, message)) || remembered === undefined) return;
      const next = await this.#readOnce(agentId);
      if (next !== holder) await this.#passTo(next, agentId, message);
    } catch {
      // Lost on the way; the counts of the bus have it.
    }
  }

  /** @returns false when this control plane does not have the agent, or has ended */
  async #passTo(holder: string | undefined, agentId: string, message: Notice): Promise<boolean> {
    const { bus, nodeId, local } = this.#deps;
    if (holder === undefined) return false;
    // It has come here meanwhile.
    if (holder === nodeId) return local.notify(agentId, message);
    try {
      const said = await bus.ask(noticesOf(holder), { agent_id: agentId, message }, { timeoutMs: NOTICE_MS });
      return noticeAnswer.parse(said).held;
    } catch (error) {
      if (error instanceof NobodyListensError) return false;
      throw error;
    }
  }

  /** Many notices to one agent share a read, and so keep their order. */
  #readOnce(agentId: string): Promise<string | undefined> {
    const running = this.#reads.get(agentId);
    if (running) return running;
    const read = this.#read(agentId).finally(() => this.#reads.delete(agentId));
    this.#reads.set(agentId, read);
    return read;
  }

  async #read(agentId: string): Promise<string | undefined> {
    const holder = await this.#deps.holder(agentId);
    if (holder === undefined) this.#holders.delete(agentId);
    else this.#holders.set(agentId, holder);
    return holder;
  }

  /** @returns undefined when this control plane does not have the agent, or does not answer: nothing was sent to the agent */
  async #ask<M extends Request['method']>(
    holder: string | undefined,
    agentId: string,
    method: M,
    params: RequestParams<M>,
    { signal, onRows }: RequestOptions,
    endsAt: number,
  ): Promise<RequestResult<M> | undefined> {
    const { bus, nodeId, clock } = this.#deps;
    if (holder === undefined || holder === nodeId) return undefined;
    if (signal?.aborted) throw new AppError('unavailable', 'the request was given up before it was sent');
    const reply = this.#countReply(onRows);
    const wait = this.#wait(holder, signal);
    releaseAdmissionSlot();
    try {
      const said = await bus.ask(
        requestsOf(holder),
        { agent_id: agentId, method, params },
        { timeoutMs: endsAt - clock.monotonic(), signal: wait.signal, onItem: reply.onItem },
      );
      const read = answer.parse(said);
      if (read.held) return read.result as RequestResult<M>;
      // The hint was lost.
      if (read.for_ms !== undefined && !this.#moving.has(agentId)) this.#moving.begin(agentId, read.for_ms);
      return undefined;
    } catch (error) {
      if (error instanceof NobodyListensError) return undefined;
      throw error;
    } finally {
      wait.end();
      reply.end();
    }
  }

  /** Ends with its caller, or with the control plane that is asked. */
  #wait(holder: string, caller: AbortSignal | undefined): { signal: AbortSignal; end: () => void } {
    const stop = new AbortController();
    const onAbort = (): void => stop.abort();
    caller?.addEventListener('abort', onAbort);
    const waiting = this.#waiting.get(holder) ?? new Set();
    this.#waiting.set(holder, waiting.add(stop));
    const end = (): void => {
      caller?.removeEventListener('abort', onAbort);
      waiting.delete(stop);
      if (waiting.size === 0 && this.#waiting.get(holder) === waiting) this.#waiting.delete(holder);
    };
    return { signal: stop.signal, end };
  }

  /** What it was asked may have been done. It is not asked again: whoever remembers it reads anew. */
  #onGone(nodeId: string): void {
    for (const [agentId, holder] of this.#holders.entries()) if (holder === nodeId) this.#holders.delete(agentId);
    for (const stop of this.#waiting.get(nodeId) ?? []) stop.abort();
  }

  /** Passes the rows of a reply on and counts their memory until its end. */
  #countReply(onRows: RequestOptions['onRows']): { onItem: (item: unknown, bytes: number) => void; end: () => void } {
    let bytes = 0;
    return {
      onItem: (item, size) => {
        bytes += size;
        this.#unfinishedBytes += size;
        if (this.#unfinishedBytes > UNFINISHED_BYTES) {
          this.#deps.counters.add('replies_in_all');
          const message = 'too many large answers are under way; this one was given up and its outcome is unknown: try again later';
          throw new AppError('outcome_unknown', message, { extra: { reason: 'replies_in_all' } });
        }
        onRows?.(rowsItem.parse(item));
      },
      end: () => {
        this.#unfinishedBytes -= bytes;
        bytes = 0;
      },
    };
  }

  /** Another control plane asks for an agent of this one. */
  async #answer(value: unknown, { remainingMs, signal, send }: Call): Promise<z.infer<typeof answer>> {
    const { local, isCounted } = this.#deps;
    const { agent_id: agentId, method, params } = question.parse(value);
    // What was asked of a process that was frozen may be old, and its asker gone.
    if (!isCounted()) throw new AppError('unavailable', 'the control plane that has the agent does not reach the database', RETRY);
    const forMs = this.#moving.remainingMs(agentId);
    if (forMs !== undefined) return { held: false, for_ms: forMs };
    if (local.epoch(agentId) === undefined) return { held: false };
    // The agent checks the form of both.
    const result = await local.request(agentId, method as 'command', params as RequestParams<'command'>, {
      timeoutMs: remainingMs,
      signal,
      onRows: (rows) => send(rows),
    });
    return { held: true, result };
  }
}
