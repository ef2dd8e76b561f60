import type { Timer, Timers } from '../../../runtime/timers.ts';
import { AppError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { toSentError } from './asks.ts';
import { Assembly, framesOf } from './frames.ts';
import type { Frame, FrameKind } from './frames.ts';
import type { Answerer } from './types.ts';

/** Far more than agents and callers need at once; without a limit a control plane in trouble would take the others with it. */
export const MAX_UNDER_WAY = 10_000;

/** Longer than anybody waits for an answer; a timer takes no more than 24 days. */
const LONGEST_MS = 24 * 3_600_000;

export interface AnswersDeps {
  timers: Timers;
  log: Log;
  /** Sends frames to an asker, or drops them when the bus is away. */
  send: (reply: string, frames: readonly Buffer[]) => void;
  /** Of one message on the bus. */
  mostBytes: () => number;
}

interface UnderWay {
  question: Assembly;
  /** The question is complete. */
  isAsked: boolean;
  stop: AbortController;
  deadline: Timer;
  /** Frames sent to the asker. */
  sent: number;
}

/** Questions of other processes that are answered here. */
export class Answers {
  readonly #deps: AnswersDeps;
  /** By the subject of the reply, which is new for each question. */
  readonly #underWay = new Map<string, UnderWay>();

  constructor(deps: AnswersDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#underWay.size;
  }

  onFrame(answerer: Answerer, reply: string, frame: Frame): void {
    const known = this.#underWay.get(reply);
    if (frame.kind === 'cancel') known?.stop.abort();
    else if (frame.kind === 'ask' && known?.isAsked !== true) this.#onAsk(answerer, reply, frame, known);
  }

  /** Nobody gets these answers any more. */
  abortAll(): void {
    for (const { stop } of this.#underWay.values()) stop.abort();
  }

  #onAsk(answerer: Answerer, reply: string, frame: Frame, known: UnderWay | undefined): void {
    if (!known && this.#underWay.size >= MAX_UNDER_WAY) {
      const busy = new AppError('unavailable', 'too many requests of other control planes under way', { retryAfterMs: 1000 });
      this.#deps.send(reply, this.#frames('error', toSentError(busy), 0));
      return;
    }
    const call = known ?? this.#begin(reply, frame.remainingMs);
    const read = call.question.add(frame);
    if (read === undefined) return;
    if (read === 'lost') {
      // It was never asked, so that certainly nothing was done.
      this.#send(reply, call, 'error', toSentError(new AppError('unavailable', 'part of the request was lost between control planes')));
      this.#end(reply, call);
      return;
    }
    call.isAsked = true;
    void this.#answer(answerer, reply, call, read.value, frame.remainingMs);
  }

  #begin(reply: string, remainingMs: number): UnderWay {
    const stop = new AbortController();
    const deadline = this.#deps.timers.setTimeout(() => stop.abort(), Math.min(remainingMs, LONGEST_MS));
    const call: UnderWay = { question: new Assembly(), isAsked: false, stop, deadline, sent: 0 };
    this.#underWay.set(reply, call);
    stop.signal.addEventListener('abort', () => {
      if (!call.isAsked) this.#end(reply, call);
    });
    return call;
  }

  /** Never rejects. */
  async #answer(answerer: Answerer, reply: string, call: UnderWay, value: unknown, remainingMs: number): Promise<void> {
    try {
      const send = (item: unknown): void => this.#send(reply, call, 'item', item);
      const answer = await answerer(value, { remainingMs, signal: call.stop.signal, send });
      this.#send(reply, call, 'end', answer);
    } catch (error) {
      if (!(error instanceof AppError)) this.#deps.log.error({ err: error }, 'a request of another control plane failed');
      const known = error instanceof AppError ? error : new AppError('internal', 'another control plane failed');
      this.#send(reply, call, 'error', toSentError(known));
    } finally {
      this.#end(reply, call);
    }
  }

  /** @throws AppError `too_large` */
  #send(reply: string, call: UnderWay, kind: FrameKind, value: unknown): void {
    if (call.stop.signal.aborted) return;
    const frames = this.#frames(kind, value, call.sent);
    call.sent += frames.length;
    this.#deps.send(reply, frames);
  }

  #frames(kind: FrameKind, value: unknown, number: number): Buffer[] {
    return framesOf(value, { kind, number, mostBytes: this.#deps.mostBytes() });
  }

  #end(reply: string, call: UnderWay): void {
    call.deadline.cancel();
    this.#underWay.delete(reply);
  }
}
