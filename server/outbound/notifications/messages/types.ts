import type { Selectable } from 'kysely';
import type { ShareLimits } from '../../../../runtime/fair-shares.ts';
import type { MessageAttemptsTable, MessagesTable } from '../../../platform/storage/schema-notices.ts';
import { OFF_REASONS, SEND_ERRORS } from '../channels/types.ts';

export type MessageRow = Selectable<MessagesTable>;
export type AttemptRow = Selectable<MessageAttemptsTable>;

export const MESSAGE_STATES = [
  /** Due, or waiting for its next attempt. */
  'pending',
  /** It waits for the end of the person's quiet hours, or of a mute of the group. */
  'held',
  /** The provider took it. When it was delivered and read, some providers say later. */
  'sent',
  /** Not sent by a decision: `reason`. */
  'withheld',
  /** A newer message of the same thread says more. */
  'superseded',
  /** Given up: `reason`. */
  'failed',
] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

/** Why a message is not sent. Errors of the attempts are further reasons. */
export const WITHHELD_REASONS = [
  /** The group is muted. */
  'muted',
  /** A silence covered the router, the site or the team. */
  'silenced',
  /** It was over before it was to be told. */
  'over_before_told',
  /** It was over before the person's quiet hours were. */
  'over_in_quiet_hours',
  /** The person has no address for this channel. */
  'no_address',
  /** Nobody has proved that the address is theirs. */
  'unverified',
  /** The address is switched off. */
  'off',
  /** Another entry of the group leads to the same address. */
  'duplicate',
  /** The stored address cannot be decrypted. */
  'unreadable',
  /** This control plane has no account for the channel. */
  'channel_unavailable',
  /** The person has got as many as a person gets in an hour. */
  'budget',
  /** It stands in the person's next digest. */
  'digest',
  /** Somebody has taken the thread over before it was sent. */
  'acknowledged',
  /** The group was deleted before it was sent. */
  'group_deleted',
] as const;
export type WithheldReason = (typeof WITHHELD_REASONS)[number];

/** The kind of a digest's message, and the reason of what waits for one. */
export const DIGEST = 'digest';

/** The reason of an address whose key is gone. */
export const UNREADABLE = 'unreadable';

/** Why a message is held. */
export const QUIET_HOURS = 'quiet_hours';

/** Why a message is held, or not sent at all: the group is muted. */
export const MUTED = 'muted';

/** How soon a message looks again whether somebody has ended a mute that has no end. A change of the group hastens it. */
export const LOOK_FOR_UNMUTE_MS = 10 * 60_000;

/** Kinds that come in quiet hours, too: somebody waits for a test, and has chosen the time of a digest. */
export const NEVER_HELD: ReadonlySet<string> = new Set(['test', DIGEST]);

/** The kind of the message that says how many more there are than a person gets in an hour. */
export const HELD_BACK = 'held_back';
/** Kinds that come during a mute, too: somebody waits for them, or they are not of the group alone. */
export const NEVER_MUTED: ReadonlySet<string> = new Set(['test', DIGEST, 'acknowledged', HELD_BACK]);
/** Why a message goes another way: the first one does not work. */
export const FALLBACK = 'fallback';

/** The provider took it, and said later that it could not deliver it. Also the outcome of the line in the log that says so. */
export const UNDELIVERED = 'undelivered';

/** Why a message is not sent: its group was deleted meanwhile. */
export const GROUP_DELETED = 'group_deleted';

/** Why a message still waits: the provider has asked for a pause, refuses the account, or cannot be reached while the line of this server is cut. */
export const PROVIDER_WAIT = 'provider_wait';

/** Given up after the time in which an alert is of use. */
export const EXPIRED = 'expired';

/** Attempts of a message that are kept: twice as many as its schedule has in six hours. A receiver may ask for more of them by `Retry-After`. */
export const KEPT_ATTEMPTS = 50;

export interface SenderRules {
  /** Lifetime of a claim; longer than an attempt and its record can take, milliseconds. */
  leaseMs: number;
  /** A whole attempt, milliseconds. */
  deadlineMs: number;
  /** Messages at the same time: in total, per team, and per bucket of a team. */
  atOnce: ShareLimits;
  /** Time for attempts in progress when this process stops, milliseconds. */
  stopWithinMs: number;
  /** A provider that refuses our account is asked again after this time, milliseconds. */
  pauseMs: number;
}

export const DEFAULT_SENDER_RULES: SenderRules = {
  leaseMs: 60_000,
  // A mail server that checks a mail may take 45 seconds.
  deadlineMs: 50_000,
  // As for webhooks: a provider that hangs takes 4 of its team's 16 attempts.
  atOnce: { total: 64, perParty: 16, perMember: 4 },
  stopWithinMs: 3000,
  pauseMs: 5 * 60_000,
};

/** Every reason that a message can have. */
export const MESSAGE_REASONS = [
  ...new Set<string>([
    ...WITHHELD_REASONS,
    QUIET_HOURS,
    FALLBACK,
    PROVIDER_WAIT,
    EXPIRED,
    // Of its thread.
    'in_other_thread',
    'flapping',
    ...OFF_REASONS,
    ...SEND_ERRORS,
  ]),
];
