import type { DbOrTx } from '../../../platform/storage/db.ts';
import type { Address } from '../channels/types.ts';
import type { GroupAddresses, GroupEntries } from '../contacts/addresses.ts';
import type { Entry } from '../contacts/reach.ts';
import type { PlannedMessage, Recipient } from './writing/plan.ts';

/** Whom a group's messages go to, and where that is when one is sent. */
export interface AddressBook {
  /** One line for each entry of a group, with the reason for those who are not told. Inside a write: queries only. */
  plan(tx: DbOrTx, teamId: string, groups: readonly GroupEntries[]): Promise<PlannedMessage[][]>;
  /** The address now, or why there is none any more. */
  open(db: DbOrTx, teamId: string, groupId: string, recipient: Recipient): Promise<Address | { reason: string }>;
}

/** Channels whose messages all go through one account of the operator. */
const BY_ACCOUNT = new Set<string>(['email', 'telegram', 'whatsapp', 'sms']);

/** Proved addresses of people and targets only: `contacts` decides. */
export class ProvedAddresses implements AddressBook {
  readonly #addresses: GroupAddresses;

  constructor(addresses: GroupAddresses) {
    this.#addresses = addresses;
  }

  async plan(tx: DbOrTx, teamId: string, groups: readonly GroupEntries[]): Promise<PlannedMessage[][]> {
    const reaches = await this.#addresses.addressesOfAll(
      tx,
      teamId,
      groups.map((group) => ({ group, topicIds: [] })),
    );
    return reaches.map(({ reached, missed }) => [
      ...reached.map(({ entry, channel, addressKey }): PlannedMessage => {
        const bucket = BY_ACCOUNT.has(channel) ? channel : `${channel}:${addressKey}`;
        return { recipient: recipientOf(entry, channel), bucket, reason: null };
      }),
      ...missed.map(({ entry, channel, reason }): PlannedMessage => ({ recipient: recipientOf(entry, channel), bucket: '', reason })),
    ]);
  }

  async open(db: DbOrTx, teamId: string, groupId: string, { type, id, channel }: Recipient): Promise<Address | { reason: string }> {
    const group = {
      id: groupId,
      recipients: [],
      notifiables: type === 'person' ? [{ id, channel }] : [],
      targets: type === 'target' ? [id] : [],
    };
    const { reached, missed } = await this.#addresses.addressesOf(db, teamId, group);
    return reached[0] ? this.#addresses.open(teamId, reached[0]) : { reason: missed[0]?.reason ?? 'no_address' };
  }
}

function recipientOf(entry: Entry, channel: string): Recipient {
  return entry.type === 'person' ? { type: 'person', id: entry.userId, channel } : { type: 'target', id: entry.targetId, channel };
}
