import { AppError } from '../../../platform/core/errors.ts';
import type { Role } from '../../../platform/core/principal.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import type { Address } from '../channels/types.ts';
import type { GroupAddresses, GroupEntries, Holder, Off } from '../contacts/addresses.ts';
import type { Entry, Reached } from '../contacts/reach.ts';
import type { Digest, Quiet } from '../contacts/types.ts';
import type { MessageLinks } from '../leaving/links.ts';
import type { Reader } from '../texts/types.ts';
import { UNREADABLE } from './types.ts';
import type { PlannedMessage, Recipient } from './writing/plan.ts';

/** A group, and those of its topics by which a message comes. */
export interface Occasion {
  group: GroupEntries;
  topicIds: readonly string[];
  /** People whose own channel does not work are told by another one. */
  byAnyWay?: boolean;
}

/** By what a message comes: a person may have left any of it. */
export interface CameBy {
  groupId: string;
  topicIds: readonly string[];
  /** It tells of several groups: only who has left all of them does not get it. The link to leave is that of the one. */
  isOfAllGroups?: boolean;
}

/** Where a message goes, and for whom it is written. */
export interface Destination {
  address: Address;
  /** Of the contact or target. */
  addressId: string;
  /** Undefined for an address of the team. A person who has chosen no time zone reads the site's. */
  reader?: Pick<Reader, 'locale'> & { timeZone: string | null; role: Role };
  /** When the person is not to be disturbed there; null: never. */
  quiet?: Quiet | null;
  /** What the person reads together; null: everything comes at once. */
  digest?: Digest | null;
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
    by: CameBy,
    recipient: Recipient & { addressId: string | null },
  ): Promise<Destination | { reason: string }>;
  /** Another way to a person by none of these channels; undefined for none. Inside a write: queries only. */
  otherWay(
    tx: DbOrTx,
    teamId: string,
    by: { groupId: string; topicIds: readonly string[] },
    userId: string,
    without: readonly string[],
  ): Promise<PlannedMessage | undefined>;
  /** Nothing arrives there any more. Inside a write. @returns false when it is off already, or was proved after that */
  switchOff(tx: DbOrTx, teamId: string, holder: Holder, addressId: string, off: Off): Promise<boolean>;
  /** A chat has another number now. */
  followChat(teamId: string, holder: Holder, addressId: string, chatId: string): Promise<void>;
}

/** Channels whose messages all go through one account of the operator, which teams share. What a team has made is its own. */
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
    const plans: PlannedMessage[][] = [];
    for (const [index, { reached, missed }] of reaches.entries()) {
      const { group, topicIds, byAnyWay = false } = occasions[index]!;
      const plan = reached.map((one) => plannedFor(teamId, one));
      for (const { entry, channel, reason, shown } of missed) {
        const by = { groupId: group.id, topicIds };
        const other = byAnyWay && entry.type === 'person' ? await this.otherWay(tx, teamId, by, entry.userId, [channel]) : undefined;
        plan.push(
          other ?? { recipient: recipientOf(entry, channel), addressId: null, bucket: '', quiet: null, digest: null, reason, shown },
        );
      }
      plans.push(plan);
    }
    return plans;
  }

  async open(
    db: DbOrTx,
    teamId: string,
    { groupId, topicIds, isOfAllGroups = false }: CameBy,
    { type, id, channel, addressId }: Recipient & { addressId: string | null },
  ): Promise<Destination | { reason: string }> {
    const group = {
      id: isOfAllGroups ? '' : groupId,
      recipients: [],
      notifiables: type === 'person' ? [{ id, channel }] : [],
      targets: type === 'target' ? [id] : [],
    };
    const { reached, missed } = await this.#addresses.addressesOf(db, teamId, group, topicIds);
    // A browser that was added meanwhile does not get what was meant for another one.
    const first = channel === 'web_push' ? reached.find(({ owner }) => idOf(owner) === addressId) : reached[0];
    if (!first) return { reason: missed[0]?.reason ?? 'no_address' };
    const address = await this.#addresses.open(teamId, first).catch(unreadable);
    if ('reason' in address) return address;
    const found = { address, addressId: idOf(first.owner) };
    if (type === 'target') return found;
    const reader = await this.#addresses.readerOf(db, teamId, id);
    const unsubscribeUrl = this.#links.unsubscribeUrl({ teamId, userId: id, groupId, topicIds: topicIds.slice(0, MOST_TOPICS_IN_LINK) });
    return { ...found, quiet: first.quiet, digest: first.digest, unsubscribeUrl, ...(reader && { reader }) };
  }

  async otherWay(
    tx: DbOrTx,
    teamId: string,
    by: { groupId: string; topicIds: readonly string[] },
    userId: string,
    without: readonly string[],
  ): Promise<PlannedMessage | undefined> {
    const found = await this.#addresses.otherWay(tx, teamId, userId, without, by);
    return found && plannedFor(teamId, found);
  }

  switchOff(tx: DbOrTx, teamId: string, holder: Holder, addressId: string, off: Off): Promise<boolean> {
    return this.#addresses.switchOff(tx, teamId, holder, addressId, off);
  }

  followChat(teamId: string, holder: Holder, addressId: string, chatId: string): Promise<void> {
    return this.#addresses.followChat(teamId, holder, addressId, chatId);
  }
}

/** What was encrypted with a key that is gone stays so: trying again is of no use. @throws every other error */
function unreadable(error: unknown): { reason: typeof UNREADABLE } {
  if (error instanceof AppError && error.code === 'internal') return { reason: UNREADABLE };
  throw error;
}

function plannedFor(teamId: string, { entry, channel, owner, addressKey, bucket, shown, quiet, digest }: Reached): PlannedMessage {
  const shared = bucket ?? `${channel}:${addressKey}`;
  return {
    recipient: recipientOf(entry, channel),
    addressId: idOf(owner),
    bucket: BY_ACCOUNT.has(channel) ? shared : `${teamId} ${shared}`,
    quiet,
    digest,
    reason: null,
    shown,
  };
}

function idOf(owner: Reached['owner']): string {
  return owner.type === 'contact' ? owner.contact.id : owner.id;
}

function recipientOf(entry: Entry, channel: string): Recipient {
  return entry.type === 'person' ? { type: 'person', id: entry.userId, channel } : { type: 'target', id: entry.targetId, channel };
}
