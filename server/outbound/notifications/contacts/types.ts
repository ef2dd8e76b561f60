import type { Role } from '../../../platform/core/principal.ts';
import type { Address, ChannelName, OffReason } from '../channels/types.ts';

/** Channels of a person. The others lead to a place of the team: `targets/`. */
export const CONTACT_CHANNELS = ['email', 'sms', 'whatsapp', 'telegram', 'web_push'] as const satisfies readonly ChannelName[];
export type ContactChannel = (typeof CONTACT_CHANNELS)[number];
export type ContactAddress = Extract<Address, { channel: ContactChannel }>;

/** The person has switched the address off. */
export const SWITCHED_OFF = 'switched_off';

/** Where one person is reached by one channel. */
export interface Contact {
  /** For the email of the account, the id of the person. */
  id: string;
  userId: string;
  channel: ContactChannel;
  addressKey: string;
  /** Addresses with the same one share a rate; null: its own. */
  bucket: string | null;
  /** What others see of it. */
  shown: string;
  verifiedAt: number | null;
  offReason: OffReason | typeof SWITCHED_OFF | null;
  offAt: number | null;
  createdAt: number;
  /** Encrypted; null for the email of the account, which is not a secret here. */
  sealed: string | null;
  /** The email of the account. */
  email: string | null;
}

/** How and when a person wants to be told. */
export interface PersonSettings {
  locale: string | null;
  timeZone: string | null;
  quiet: QuietHours | null;
  /** Null: by email. */
  defaultChannel: ContactChannel | null;
  digest: DigestSettings;
}

export const DIGEST_PERIODS = ['hourly', 'daily'] as const;

/** What a person reads together, and when. */
export interface DigestSettings {
  /** Null: everything comes at once. */
  every: (typeof DIGEST_PERIODS)[number] | null;
  /** Of a daily one: minutes since midnight in the person's time zone. */
  at: number;
  /** Entries as in topics, besides what is of the severity info. What is critical is never in it. */
  kinds: readonly string[];
}

/** The digest of a person who wants one. */
export interface Digest extends DigestSettings {
  every: NonNullable<DigestSettings['every']>;
  /** IANA name. */
  timeZone: string;
}

/** Minutes since midnight in the person's time zone; across midnight when `to` is not after `from`. */
export interface QuietHours {
  from: number;
  to: number;
  /** Critical notifications come at once. */
  criticalBreaksThrough: boolean;
}

/** When a person's own channels are silent. Mail does not wake anybody. */
export interface Quiet {
  hours: QuietHours;
  /** IANA name. */
  timeZone: string;
}

/** A person with everything that decides how they are reached. */
export interface Person {
  id: string;
  /** In the team for which it was read. */
  role: Role;
  settings: PersonSettings;
  contacts: readonly Contact[];
  optouts: readonly Optout[];
}

export const OPTOUT_SCOPES = ['all', 'group', 'topic'] as const;
export type OptoutScope = (typeof OPTOUT_SCOPES)[number];

/** What a person does not want from a team any more. */
export interface Optout {
  id: string;
  scope: OptoutScope;
  /** Id of the group or topic; empty for all. */
  scopeId: string;
  at: number;
}
