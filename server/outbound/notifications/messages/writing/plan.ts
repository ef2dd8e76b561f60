import type { Digest, Quiet } from '../../contacts/types.ts';

/** Who gets a message of a group, by which channel, and who does not. */

export interface Recipient {
  type: 'person' | 'target';
  id: string;
  channel: string;
}

export interface PlannedMessage {
  recipient: Recipient;
  /** Of the contact or target; null for those that are not sent. */
  addressId: string | null;
  /** Messages of one bucket share a rate; empty for those that are not sent. */
  bucket: string;
  /** When the person is not to be disturbed by it. */
  quiet: Quiet | null;
  /** What the person reads together; null: everything comes at once. */
  digest: Digest | null;
  /** Why it is not sent; null when it is. */
  reason: string | null;
  /** The address, as others see it; null without one. */
  shown: string | null;
}
