import type { DbOrTx } from '../../../platform/storage/db.ts';
import type { Address } from '../channels/types.ts';
import type { GroupAddresses, GroupEntries } from '../contacts/addresses.ts';
import type { Entry, Reached } from '../contacts/reach.ts';
import type { Quiet } from '../contacts/types.ts';
import type { MessageLinks } from '../leaving/links.ts';
import type { Reader } from '../texts/types.ts';
import type { PlannedMessage, Recipient } from './writing/plan.ts';

/** A group, and those of its topics by which a message comes. */
export interface Occasion {
  group: GroupEntries;
  topicIds: readonly string[];
}

/** Where a message goes, and for whom it is written. */
export interface Destination {
  address: Address;
  /** Undefined for an address of the team. A person who has chosen no time zone reads the site's. */
  reader?: Pick<Reader, 'locale'> & { timeZone: string | null };
  /** When the person is not to be disturbed there; null: never. */
  quiet?: Quiet | null;
  /** For mails to people. */
  unsubscribeUrl?: string;
}

/** Whom a group's messages go to, and where that is when one is sent. */
export interface AddressBook {
  /** One line for each entry of a group, with the reason for those who are not told. Inside a write: queries only. */
  plan(tx: DbOrTx, teamId: string, occasions: readonly Occasion[]): Promise<PlannedMessage[][]>;
  /** Where it goes now, or why it does not any more. */
  open(
    db: DbOrTx,
    teamId: string,
    by: { groupId: string; topicIds: readonly string[] },
    recipient: Recipient & { addressId: string | null },
  ): Promise<Destination | { reason: string }>;
}

/** Channels whose messages all go through one account of the operator. */
const BY_ACCOUNT = new Set<string>(['email', 'telegram', 'whatsapp', 'sms']);

/** A link with more topics could not be read. */
const MOST_TOPICS_IN_LINK = 20;

/** Proved addresses of people and targets only: `contacts` decides. */
export class ProvedAddresses implements AddressBook {
  readonly #addresses: GroupAddresses;
  readonly #links: Pick<MessageLinks, 'unsubscribeUrl'>;

  constructor(addresses: GroupAddresses, links: Pick<MessageLinks, 'unsubscribeUrl'>) {
    this.#addresses = addresses;
    this.#links = links;
  }

  async plan(tx: DbOrTx, teamId: string, occasions: readonly Occasion[]): Promise<PlannedMessage[][]> {
    const reaches = await this.#addresses.addressesOfAll(tx, teamId, occasions);
    return reaches.map(({ reached, missed }) => [
      ...reached.map(({ entry, channel, owner, addressKey, shown, quiet }): PlannedMessage => {
        const bucket = BY_ACCOUNT.has(channel) ? channel : `${channel}:${addressKey}`;
        return { recipient: recipientOf(entry, channel), addressId: idOf(owner), bucket, quiet, reason: null, shown };
      }),
      ...missed.map(({ entry, channel, reason, shown }): PlannedMessage => {
        return { recipient: recipientOf(entry, channel), addressId: null, bucket: '', quiet: null, reason, shown };
      }),
    ]);
  }

  async open(
    db: DbOrTx,
    teamId: string,
    { groupId, topicIds }: { groupId: string; topicIds: readonly string[] },
    { type, id, channel, addressId }: Recipient & { addressId: string | null },
  ): Promise<Destination | { reason: string }> {
    const group = {
      id: groupId,
      recipients: [],
      notifiables: type === 'person' ? [{ id, channel }] : [],
      targets: type === 'target' ? [id] : [],
    };
    const { reached, missed } = await this.#addresses.addressesOf(db, teamId, group, topicIds);
    // A browser that was added meanwhile does not get what was meant for another one.
    const first = channel === 'web_push' ? reached.find(({ owner }) => idOf(owner) === addressId) : reached[0];
    if (!first) return { reason: missed[0]?.reason ?? 'no_address' };
    const address = await this.#addresses.open(teamId, first);
    if (type === 'target') return { address };
    const reader = await this.#addresses.readerOf(db, teamId, id);
    const unsubscribeUrl = this.#links.unsubscribeUrl({ teamId, userId: id, groupId, topicIds: topicIds.slice(0, MOST_TOPICS_IN_LINK) });
    return { address, quiet: first.quiet, unsubscribeUrl, ...(reader && { reader }) };
  }
}

function idOf(owner: Reached['owner']): string {
  return owner.type === 'contact' ? owner.contact.id : owner.id;
}

function recipientOf(entry: Entry, channel: string): Recipient {
  return entry.type === 'person' ? { type: 'person', id: entry.userId, channel } : { type: 'target', id: entry.targetId, channel };
}
