import type { BusCounts } from './counts.ts';

/**
 * Messages between control planes of one installation. Delivery is at most once: nothing on the bus is believed without the database, and
 * whatever a message hints at is also found without it. Values are JSON; whoever receives one checks its form.
 */
export interface Bus {
  /** False while its server is away. What is asked or published then reaches nobody, and is not kept for later. */
  readonly isConnected: boolean;
  readonly counts: BusCounts;

  /**
   * Asks whoever answers on a subject, and waits for the answer.
   * @throws NobodyListensError or BusAwayError at once, and nothing was done; NoAnswerError when it is unknown what was done; otherwise the
   *   answerer's own AppError
   */
  ask(subject: string, value: unknown, options: AskOptions): Promise<unknown>;

  /** Answers on a subject from now on, also after the bus was away. One answerer for each subject and process. */
  answer(subject: string, answerer: Answerer): void;

  /** Tells everyone else who listens. Never throws. A list that may be long goes through `publishList`. */
  publish(subject: string, value: unknown): Published;

  /** Hears what others publish from now on, also after the bus was away; what was said meanwhile is lost. */
  listen(subject: string, hear: (value: unknown) => void): void;

  /** Ends every ask and every answer under way. */
  close(): Promise<void>;
}

/** `away` and `too_large`: it was certainly not sent. */
export type Published = 'sent' | 'away' | 'too_large';

export interface AskOptions {
  /** Longest wait in milliseconds; it travels with the question as remaining time, because clocks of machines differ. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Receives what is sent before the answer, in order and without gaps. @param bytes its size on the wire */
  onItem?: ((item: unknown, bytes: number) => void) | undefined;
}

/** A question that is being answered. */
export interface Call {
  /** How long the asker waits for the answer. */
  remainingMs: number;
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** Sends something before the answer. */
  send: (item: unknown) => void;
}

/** @returns the answer; an AppError reaches the asker with its code and its public members, any other error as `internal` */
export type Answerer = (value: unknown, call: Call) => Promise<unknown>;
