import type { Selectable } from 'kysely';
import type { ShareLimits } from '../../../runtime/fair-shares.ts';
import type { JobEventAttemptsTable, JobEventsTable } from '../../platform/storage/schema-webhooks.ts';

/** What became of an event so far. */
export const DELIVERY_STATES = [
  /** Not yet delivered: due now, or waiting for its next attempt or for the event before it. */
  'pending',
  /** Sent again because someone asked; it neither waits for other events nor holds them up. */
  'resending',
  'delivered',
  /** Given up after the last attempt of the schedule. */
  'failed',
  /** The receiver said that it wants no more (410). */
  'gone',
] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Why an attempt counts as failed, as a stable word. */
export const ATTEMPT_ERRORS = [
  'http_status',
  'redirected',
  'gone',
  'timed_out',
  'url_refused',
  'address_refused',
  'name_not_found',
  'connect_failed',
  'tls_failed',
  'connection_lost',
  'answer_invalid',
  'signing_failed',
] as const;
export type AttemptError = (typeof ATTEMPT_ERRORS)[number];

/** An attempt as it went. */
export type AttemptResult =
  | { outcome: 'delivered'; status: number }
  | { outcome: 'failed'; status: number | null; error: AttemptError; retryAfter: string | undefined }
  /** Cut off because this program is stopping: it counts as never made. */
  | { outcome: 'stopped' };

/** An event that an attempt holds. */
export interface ClaimedEvent {
  id: string;
  teamId: string;
  jobId: string;
  seq: number;
  body: string;
  url: string;
  origin: string;
  state: DeliveryState;
  /** Made before this one, in the present round. */
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
  /** How long an attempt holds its event; longer than an attempt and its record can take, in milliseconds. */
  leaseMs: number;
  /** Attempts at the same time: all together, of one team, and of one team at one receiver (its origin). */
  atOnce: ShareLimits;
  /** How long attempts may still take when this program stops, in milliseconds. */
  stopWithinMs: number;
}

export const DEFAULT_WEBHOOK_RULES: WebhookRules = {
  // Standard Webhooks recommends 15 to 30 seconds.
  deadlineMs: 15_000,
  leaseMs: 60_000,
  // A receiver that hangs holds 4 of its team's 16, a team whose receivers all hang 16 of 64. Teams that send to the same
  // receiver have a share each: one may ask it for a page that hangs.
  atOnce: { total: 64, perParty: 16, perMember: 4 },
  stopWithinMs: 3000,
};
