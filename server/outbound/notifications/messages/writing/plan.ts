/** Who gets a message of a group, by which channel, and who does not. */

export interface Recipient {
  type: 'person' | 'target';
  id: string;
  channel: string;
}

export interface PlannedMessage {
  recipient: Recipient;
  /** Messages of one bucket share a rate; empty for those that are not sent. */
  bucket: string;
  /** Why it is not sent; null when it is. */
  reason: string | null;
}
