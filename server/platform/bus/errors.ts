import { AppError } from '../core/errors.ts';

/** Nobody answers on this subject: nothing was done. */
export class NobodyListensError extends AppError {
  constructor() {
    super('unavailable', 'no other control plane answers for this', { retryAfterMs: 2000 });
  }
}

/** The bus is away: nothing was sent. */
export class BusAwayError extends AppError {
  constructor() {
    super('unavailable', 'the connection between the control planes is away', { retryAfterMs: 2000 });
  }
}

const WHY = {
  deadline: 'no answer in time: the outcome is unknown',
  aborted: 'given up before the answer: the outcome is unknown',
  away: 'the connection between the control planes broke before the answer: the outcome is unknown',
  lost: 'part of the answer of another control plane was lost: the outcome is unknown',
} as const;

/** It was sent, and what came of it is unknown. */
export class NoAnswerError extends AppError {
  readonly why: keyof typeof WHY;

  constructor(why: keyof typeof WHY) {
    super('outcome_unknown', WHY[why]);
    this.why = why;
  }
}
