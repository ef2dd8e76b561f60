import { z } from 'zod';
import { PendingRequests } from '../../../protocol/index.ts';
import type { Timers } from '../../../runtime/timers.ts';
import { AppError, ERROR_CODES } from '../core/errors.ts';
import type { BusCounts } from './counts.ts';
import { NoAnswerError, NobodyListensError } from './errors.ts';
import { Assembly } from './frames.ts';
import type { Assembled, Frame } from './frames.ts';
import type { AskOptions } from './types.ts';

/** An AppError on its way to the asker. */
const sentError = z.object({
  code: z.enum(ERROR_CODES),
  message: z.string(),
  errors: z.record(z.string(), z.array(z.string())).optional(),
  extra: z.record(z.string(), z.unknown()).optional(),
  retryAfterMs: z.number().optional(),
});

/** What an asker learns of an error: never the cause. */
export function toSentError({ code, message, errors, extra, retryAfterMs }: AppError): z.infer<typeof sentError> {
  return { code, message, errors, extra, retryAfterMs };
}

function fromSentError(value: unknown): AppError {
  const { data, error } = sentError.safeParse(value);
  if (!data) return new AppError('outcome_unknown', 'another control plane sent an error that could not be read', { cause: error });
  const { code, message, errors, extra, retryAfterMs } = data;
  return new AppError(code, message, { retryAfterMs, ...(errors && { errors }), ...(extra && { extra }) });
}

interface OpenAsk {
  subject: string;
  onItem: AskOptions['onItem'];
  frames: Assembly;
}

export interface OpenAsksDeps {
  timers: Timers;
  counts: BusCounts;
  /** Tells the answerer that nobody waits any more. */
  cancel: (subject: string, id: number) => void;
}

/** Asks of this process that wait for their answers. Each ends exactly once. */
export class OpenAsks {
  readonly #pending: PendingRequests<OpenAsk, unknown>;
  readonly #deps: OpenAsksDeps;

  constructor(deps: OpenAsksDeps) {
    this.#deps = deps;
    this.#pending = new PendingRequests(deps.timers);
  }

  /** @returns its number, and its answer as {@link Bus.ask} gives it */
  open(subject: string, { timeoutMs, signal, onItem }: AskOptions): { id: number; answer: Promise<unknown> } {
    const { id, answer } = this.#pending.open(
      { subject, onItem, frames: new Assembly() },
      {
        timeoutMs,
        signal,
        onExpiry: (why, expired) => {
          this.#deps.cancel(subject, expired);
          return new NoAnswerError(why === 'timeout' ? 'deadline' : 'aborted');
        },
      },
    );
    return { id, answer: this.#count(answer) };
  }

  onFrame(id: number, frame: Frame): void {
    const ask = this.#pending.context(id);
    if (!ask) return;
    const read = ask.frames.add(frame);
    if (read === undefined) return;
    if (read === 'lost') this.#giveUp(id, ask, new NoAnswerError('lost'));
    else if (frame.kind === 'item') this.#onItem(id, ask, read);
    else if (frame.kind === 'end') this.#pending.resolve(id, read.value);
    else this.#pending.reject(id, fromSentError(read.value));
  }

  /** Ends an ask of which nothing reached an answerer. */
  onNotSent(id: number, error: AppError): void {
    this.#pending.reject(id, error);
  }

  /** The bus went away, and with it the answers under way. */
  onAway(): void {
    this.#pending.rejectAll(() => new NoAnswerError('away'));
  }

  #onItem(id: number, ask: OpenAsk, { value, bytes }: Assembled): void {
    try {
      ask.onItem?.(value, bytes);
    } catch (error) {
      this.#giveUp(
        id,
        ask,
        error instanceof AppError ? error : new AppError('internal', 'the answer could not be taken', { cause: error }),
      );
    }
  }

  #giveUp(id: number, { subject }: OpenAsk, error: AppError): void {
    if (this.#pending.reject(id, error)) this.#deps.cancel(subject, id);
  }

  async #count(answer: Promise<unknown>): Promise<unknown> {
    const { asks } = this.#deps.counts;
    try {
      const value = await answer;
      asks.answered += 1;
      return value;
    } catch (error) {
      if (error instanceof NobodyListensError) asks.nobody += 1;
      else asks[error instanceof NoAnswerError ? error.why : 'refused'] += 1;
      throw error;
    }
  }
}
