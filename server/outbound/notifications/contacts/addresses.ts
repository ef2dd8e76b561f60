import type { Role } from '../../../platform/core/principal.ts';
import type { DbOrTx, Storage } from '../../../platform/storage/db.ts';
import type { Address, OffReason } from '../channels/types.ts';
import type { TargetsService } from '../targets/service.ts';
import { DEFAULT_CHANNEL, otherWay, reachOf } from './reach.ts';
import type { Entry, MissedReason, Occasion, Reach, Reached, TargetState } from './reach.ts';
import type { Locale } from '../texts/types.ts';
import { readerOf } from './service.ts';
import type { ContactsService } from './service.ts';
import { selectPeople } from './store.ts';

/** The lists of a group that lead to addresses. */
export interface GroupEntries {
  id: string;
  recipients: readonly string[];
  notifiables: readonly { id: string; channel: string }[];
  targets: readonly string[];
}

/** A person or target with an address. */
export interface Holder {
  type: 'person' | 'target';
  id: string;
}

/** Why nothing arrives at an address, and when the message was sent of which a provider says so. */
export interface Off {
  reason: OffReason;
  at: number;
}

/** Whom messages can reach: the one place that knows people's and the team's addresses. */
export class GroupAddresses {
  readonly #storage: Storage;
  readonly #contacts: ContactsService;
  readonly #targets: TargetsService;

  constructor({ storage, contacts, targets }: { storage: Storage; contacts: ContactsService; targets: TargetsService }) {
    this.#storage = storage;
    this.#contacts = contacts;
    this.#targets = targets;
  }

  /**
   * The proved addresses of a group's entries, and the reason for each entry that leads to none.
   * @param topicIds topics by which the message comes, if it is about a message
   */
  async addressesOf(db: DbOrTx, teamId: string, group: GroupEntries, topicIds: readonly string[] = []): Promise<Reach> {
    const [reach] = await this.addressesOfAll(db, teamId, [{ group, topicIds }]);
    return reach!;
  }

  /** The same for several groups of the team, with one look at each table. */
  async addressesOfAll(
    db: DbOrTx,
    teamId: string,
    wanted: readonly { group: GroupEntries; topicIds: readonly string[] }[],
  ): Promise<Reach[]> {
    const userIds = wanted.flatMap(({ group }) => [...group.recipients, ...group.notifiables.map(({ id }) => id)]);
    const targetIds = wanted.flatMap(({ group }) => group.targets);
    const people = await selectPeople(db, teamId, userIds, this.#contacts.view);
    const targets = await this.#targets.statesOf(db, teamId, targetIds);
    return wanted.map(({ group, topicIds }) => reachOf(entriesOf(group), { people, targets }, occasionOf(group, topicIds)));
  }

  /** Whom the groups reach now, whatever the topic. In the order of the groups. */
  async ofGroups(teamId: string, groups: readonly GroupEntries[]): Promise<Reach[]> {
    const wanted = groups.map((group) => ({ group, topicIds: [] }));
    return this.addressesOfAll(this.#storage.db, teamId, wanted);
  }

  /** Language, chosen time zone and role of an active member; undefined for anybody else. */
  async readerOf(db: DbOrTx, teamId: string, userId: string): Promise<{ locale: Locale; timeZone: string | null; role: Role } | undefined> {
    const person = (await selectPeople(db, teamId, [userId], this.#contacts.view)).get(userId);
    return person && { locale: readerOf(person).locale, timeZone: person.settings.timeZone, role: person.role };
  }

  /** Another proved address of a member; undefined for none. @param without channels that are of no use */
  async otherWay(db: DbOrTx, teamId: string, userId: string, without: readonly string[], occasion: Occasion): Promise<Reached | undefined> {
    const person = (await selectPeople(db, teamId, [userId], this.#contacts.view)).get(userId);
    return person && otherWay(person, without, occasion);
  }

  /** Nothing arrives there any more. Inside a write. @returns false when it is off already, or was proved after that */
  async switchOff(tx: DbOrTx, teamId: string, { type, id }: Holder, addressId: string, { reason, at }: Off): Promise<boolean> {
    if (type === 'target') return this.#targets.switchOff(tx, { teamId, id }, reason);
    return this.#contacts.switchOff(tx, { userId: id, id: addressId }, { reason, at });
  }

  /** A chat has another number now. */
  async followChat(teamId: string, { type, id }: Holder, addressId: string, chatId: string): Promise<void> {
    if (type === 'target') await this.#targets.followChat(teamId, id, chatId);
    else await this.#contacts.followChat({ teamId, userId: id }, addressId, chatId);
  }

  /** The channel of people who have chosen none. */
  readonly defaultChannel = DEFAULT_CHANNEL;

  /** The same for lines that name people, with the decrypted address. In the order of the lines; a person's first address counts. */
  async reach(
    db: DbOrTx,
    teamId: string,
    wanted: readonly Wanted[],
    occasion: Occasion = { groupId: '', topicIds: [] },
  ): Promise<({ state: 'ok'; address: Address } | { state: Exclude<MissedReason, 'duplicate'> })[]> {
    const userIds = wanted.map(({ userId }) => userId);
    const people = await selectPeople(db, teamId, userIds, this.#contacts.view);
    const none = new Map<string, TargetState>();
    return Promise.all(
      wanted.map(async ({ userId, channel }) => {
        const { reached, missed } = reachOf([{ type: 'person', userId, channel }], { people, targets: none }, occasion);
        const [first] = reached;
        if (first) return { state: 'ok' as const, address: await this.open(teamId, first) };
        const reason = missed[0]!.reason;
        return { state: reason === 'duplicate' ? ('no_address' as const) : reason };
      }),
    );
  }

  /** The address to send to, decrypted. @throws AppError `not_found` for a deleted target, `internal` when it cannot be decrypted */
  async open(teamId: string, { owner }: Pick<Reached, 'owner'>): Promise<Address> {
    if (owner.type === 'contact') return this.#contacts.open(owner.contact);
    return this.#targets.open(await this.#targets.get(teamId, owner.id));
  }
}

function occasionOf({ id }: GroupEntries, topicIds: readonly string[]): Occasion {
  return { groupId: id, topicIds };
}

/** One line of a group for {@link GroupAddresses.reach}. */
export interface Wanted {
  userId: string;
  /** As a group names it; undefined: the person's own default. */
  channel: string | undefined;
}

/** Notifiables first: they name a channel, and a recipient with the same default channel is then the duplicate. */
export function entriesOf({ recipients, notifiables, targets }: GroupEntries): Entry[] {
  return [
    ...notifiables.map(({ id, channel }): Entry => ({ type: 'person', userId: id, channel })),
    ...recipients.map((userId): Entry => ({ type: 'person', userId, channel: undefined })),
    ...targets.map((targetId): Entry => ({ type: 'target', targetId })),
  ];
}
