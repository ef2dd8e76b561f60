import type { Selectable } from 'kysely';
import type { ShareLimits } from '../../../runtime/fair-shares.ts';
import { CONNECTION_ERRORS } from '../../platform/outgoing/error-code.ts';
import type { PostResult } from '../../platform/outgoing/poster.ts';
import type { JobEventAttemptsTable, JobEventsTable } from '../../platform/storage/schema-webhooks.ts';

/** States of an event. */
export const DELIVERY_STATES = [
  /** Not yet delivered: due now, or waiting for its next attempt or for the event before it. */
  'pending',
  /** Sent again on request; it neither waits for other events nor delays them. */
  'resending',
  'delivered',
  /** Given up after the last attempt of the schedule. */
  'failed',
  /** The receiver answered 410 and gets no more updates. */
  'gone',
] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Stable error codes of failed attempts. */
export const ATTEMPT_ERRORS = ['http_status', 'redirected', 'gone', ...CONNECTION_ERRORS, 'signing_failed'] as const;
export type AttemptError = (typeof ATTEMPT_ERRORS)[number];

/** Result of an attempt. */
export type AttemptResult = PostResult | { outcome: 'failed'; status: null; error: 'signing_failed'; retryAfter: undefined };

/** An event claimed for an attempt. */
export interface ClaimedEvent {
  id: string;
  teamId: string;
  jobId: string;
  seq: number;
  body: string;
  url: string;
  origin: string;
  state: DeliveryState;
  /** Earlier attempts in the current schedule. */
  attempts: number;
  /** State of the event before it. */
  previous: DeliveryState | null;
  claim: string;
}

export type EventRecord = Selectable<JobEventsTable>;
export type AttemptRecord = Selectable<JobEventAttemptsTable>;

/** One event in the delivery log. */
export interface Delivery {
  event: EventRecord;
  /** Oldest first. */
  attempts: AttemptRecord[];
}

export interface WebhookRules {
  /** A whole attempt, from the name look-up to the end of the answer, in milliseconds. */
  deadlineMs: number;
  /** Lifetime of a claim; longer than an attempt and its record can take, in milliseconds. */
  leaseMs: number;
  /** Concurrent attempts: in total, per team, and per team and receiver (its origin). */
  atOnce: ShareLimits;
  /** Time for attempts in progress when this process stops, in milliseconds. */
  stopWithinMs: number;
  /** How long an update is kept after its delivery or its end, in milliseconds. */
  keepMs: number;
}

export const DEFAULT_WEBHOOK_RULES: WebhookRules = {
  // Standard Webhooks recommends 15 to 30 seconds.
  deadlineMs: 15_000,
  leaseMs: 60_000,
  // A hanging receiver takes 4 of its team's 16 attempts, a team whose receivers all hang takes 16 of 64. Teams that send to
  // the same receiver have separate shares: one team may request a path that hangs.
  atOnce: { total: 64, perParty: 16, perMember: 4 },
  stopWithinMs: 3000,
  // The delivery log covers the last weeks, not years.
  keepMs: 30 * 24 * 3600_000,
};
