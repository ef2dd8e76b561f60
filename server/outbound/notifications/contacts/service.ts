import type { Clock } from '../../../platform/core/clock.ts';
import { releaseAdmissionSlot } from '../../../platform/core/admission-slot.ts';
import { AppError, invalidField, notFound } from '../../../platform/core/errors.ts';
import { newId } from '../../../platform/core/ids.ts';
import type { AddressRules } from '../../../platform/core/public-address.ts';
import { ianaTimeZone } from '../../../platform/core/time-zone.ts';
import type { Role } from '../../../platform/core/principal.ts';
import type { DbOrTx, Storage } from '../../../platform/storage/db.ts';
import type { Secrets } from '../../../platform/storage/secrets.ts';
import { notConfigured } from '../channels/offer.ts';
import { bucketOfAddress, sendTo } from '../channels/set.ts';
import type { Channels } from '../channels/set.ts';
import type { OffReason, SendResult } from '../channels/types.ts';
import { proofMessage } from '../proofs/message.ts';
import type { AddressProofs } from '../proofs/service.ts';
import { ADDRESS_PURPOSE } from '../proofs/types.ts';
import { LOCALES } from '../texts/types.ts';
import type { Reader } from '../texts/types.ts';
import { nextDigestAt } from './digest-time.ts';
import { digestOf } from './reach.ts';
import { identityOfContact, readContact, showContact, showEmail } from './read-contact.ts';
import type { GivenSubscription } from './read-contact.ts';
import {
  deleteContact,
  deleteOptout,
  insertContact,
  insertOptout,
  isUnique,
  isContactOn,
  lockPerson,
  moveContact,
  moveDigest,
  selectNames,
  selectPeople,
  setContactState,
  updateSettings,
} from './store.ts';
import type { EmailView, SettingsChange } from './store.ts';
import { SWITCHED_OFF } from './types.ts';
import type { Contact, ContactAddress, ContactChannel, Optout, OptoutScope, Person } from './types.ts';

/** A person has one address for each channel, and a few browsers. */
const MAX_BROWSERS = 5;
/** A person waits for the answer. Longer than a request may take, which says why it failed. */
const SEND_WITHIN_MS = 20_000;
/** Path of the page behind the link of a mail. */
export const CONFIRM_PATH = '/mail/confirm';

export interface ContactsDeps {
  storage: Storage;
  clock: Clock;
  secrets: Pick<Secrets, 'encrypt' | 'decryptText' | 'fingerprints'>;
  proofs: AddressProofs;
  channels: Channels;
  rules: AddressRules;
  publicUrl: string;
}

export type { SettingsChange } from './store.ts';

/** A contact with its encrypted address, as it is stored. */
export type SealedContact = Contact & { sealed: string };

/** A person in a team; only the person changes what is theirs. */
export interface Owner {
  teamId: string;
  userId: string;
}

/** Where people are reached, how they prove it, and what they do not want. */
export class ContactsService {
  readonly #deps: ContactsDeps;
  /** The email of an account is recognised like every other address. */
  readonly view: EmailView;

  constructor(deps: ContactsDeps) {
    this.#deps = deps;
    this.view = { keyOf: (email) => this.#keyOf({ channel: 'email', to: email }), show: showEmail };
  }

  /** @throws AppError `not_found` for somebody who is no active member */
  async person({ teamId, userId }: Owner, db: DbOrTx = this.#deps.storage.db): Promise<Person> {
    const person = (await selectPeople(db, teamId, [userId], this.view)).get(userId);
    if (!person) throw notFound('member');
    return person;
  }

  /** What an active member may do; undefined for anybody else. */
  async roleOf({ teamId, userId }: Owner): Promise<Role | undefined> {
    return (await selectPeople(this.#deps.storage.db, teamId, [userId], this.view)).get(userId)?.role;
  }

  /** The person's addresses, for the person alone: not masked. */
  async listOwn(owner: Owner): Promise<{ contact: Contact; address: ContactAddress }[]> {
    const { contacts } = await this.person(owner);
    return Promise.all(contacts.map(async (contact) => ({ contact, address: await this.open(contact) })));
  }

  /**
   * Adds an address. A browser has asked the person itself, so it counts as proved.
   * @throws AppError `invalid` for an unfit address, `conflict` for a second one of the channel
   */
  async add(
    owner: Owner,
    channel: ContactChannel,
    given: { address?: string | undefined; subscription?: GivenSubscription | undefined },
  ): Promise<Contact> {
    const { storage, clock, rules } = this.#deps;
    const address = readContact(channel, given, rules);
    const contact = await this.#seal(owner.userId, address, channel === 'web_push' ? clock.now() : null);
    await storage.writes.write(async (tx) => {
      await lockPerson(tx, owner.userId);
      const { contacts } = await this.person(owner, tx);
      refuseOneMore(contact, contacts);
      await insertContact(tx, contact).catch((error: unknown) => {
        throw isUnique(error) ? haveAlready(error) : error;
      });
    });
    return contact;
  }

  /** A chat that a person may be about to prove. To be made before the transaction of {@link proveChat}. */
  sealChat(userId: string, chatId: string): Promise<SealedContact> {
    return this.#seal(userId, { channel: 'telegram', chatId }, this.#deps.clock.now());
  }

  /**
   * The person has proved this chat. It takes the place of one that is not proved, or that the receiver has switched off. Inside a write, after
   * `lockPerson`. @returns the contact's id; undefined when the person has another chat, or is no active member any more
   */
  async proveChat(tx: DbOrTx, owner: Owner, chat: SealedContact): Promise<string | undefined> {
    const person = (await selectPeople(tx, owner.teamId, [owner.userId], this.view)).get(owner.userId);
    if (!person) return undefined;
    const earlier = chatOf(person);
    if (earlier?.addressKey === chat.addressKey) {
      const now = this.#deps.clock.now();
      await setContactState(tx, earlier, { verifiedAt: now, offReason: null, now });
      return earlier.id;
    }
    if (earlier && isSettled(earlier)) return undefined;
    if (earlier) await deleteContact(tx, owner.userId, earlier.id);
    await insertContact(tx, chat);
    return chat.id;
  }

  /** @throws AppError `conflict` when no other chat can be proved */
  async refuseSecondChat(owner: Owner, db: DbOrTx = this.#deps.storage.db): Promise<void> {
    const chat = chatOf(await this.person(owner, db));
    if (chat && isSettled(chat)) throw haveOther('telegram');
  }

  /** Switches an address off or on again. What a receiver has switched off needs a new proof. @throws AppError `not_found`, `conflict` */
  async setOff(owner: Owner, contactId: string, off: boolean): Promise<void> {
    const { storage, clock } = this.#deps;
    const { offReason } = await this.#find(owner, contactId);
    if (off && offReason !== null) return;
    if (!off && offReason === null) return;
    if (!off && offReason !== null && !isOwnDecision(offReason))
      throw new AppError('conflict', `the receiver has switched this address off (${offReason}); prove it again`);
    const state = { offReason: off ? SWITCHED_OFF : null, now: clock.now() } as const;
    if (!(await setContactState(storage.db, { userId: owner.userId, id: contactId }, state))) throw notFound('contact');
  }

  /** @throws AppError `not_found`; `conflict` for the email of the account, which can only be switched off */
  async delete(owner: Owner, contactId: string): Promise<void> {
    if (contactId === owner.userId) throw new AppError('conflict', 'this is the email of your account; switch it off instead');
    if (!(await deleteContact(this.#deps.storage.db, owner.userId, contactId))) throw notFound('contact');
  }

  /**
   * Sends the person a message to prove an address: a link by email, a code otherwise.
   * @throws AppError `not_found`; `rate_limited`; `conflict` for a channel that needs an account of the operator
   */
  async sendProof(owner: Owner, contactId: string): Promise<{ result: SendResult; expiresAt: number }> {
    const { storage, clock, proofs, channels, publicUrl } = this.#deps;
    const { userId, teamId } = owner;
    const contact = await this.#find(owner, contactId);
    const { channel, addressKey } = contact;
    if (!channels[channel]) throw new AppError('conflict', notConfigured(channel));
    const [address, names, reader] = [await this.open(contact), await selectNames(storage.db, owner), readerOf(await this.person(owner))];
    const form = channel === 'email' ? 'link' : 'digits';
    const { code, expiresAt } = await proofs.issue({ teamId, userId, ownerId: contactId, addressKey }, form);
    const now = clock.now();
    const link = `${publicUrl}${CONFIRM_PATH}/${teamId}.${userId}.${contactId}.${code}`;
    const words = form === 'link' ? { code: null, url: link } : { code, url: `${publicUrl}/` };
    const message = proofMessage({
      id: newId(now),
      ...words,
      by: names?.email ?? '',
      team: names?.team ?? '',
      at: now,
      validMs: expiresAt - now,
      reader,
    });
    releaseAdmissionSlot();
    return { result: await sendTo(channels, message, address, AbortSignal.timeout(SEND_WITHIN_MS)), expiresAt };
  }

  /** Proves an address, and switches it on. @throws AppError `not_found`; `invalid` for a wrong or ended code */
  async verify(owner: Owner, contactId: string, code: string): Promise<void> {
    const { clock, proofs } = this.#deps;
    const { userId } = owner;
    await this.#find(owner, contactId);
    await proofs.use({ ...owner, ownerId: contactId }, code, async (tx, addressKey) => {
      const person = await this.person(owner, tx);
      // The email of an account may have changed since the message.
      if (!person.contacts.some((contact) => contact.id === contactId && contact.addressKey === addressKey)) return false;
      const now = clock.now();
      return setContactState(tx, { userId, id: contactId }, { verifiedAt: now, offReason: null, now });
    });
  }

  /** Whether the address is proved, and this was a code for it. */
  async isProvedBy(owner: Owner, contactId: string, code: string): Promise<boolean> {
    const { contacts } = await this.person(owner);
    const contact = contacts.find(({ id, verifiedAt, offReason }) => id === contactId && verifiedAt !== null && offReason === null);
    return contact !== undefined && this.#deps.proofs.wasFor({ ...owner, ownerId: contactId }, contact.addressKey, code);
  }

  /** @throws AppError `invalid` for an unknown time zone, half of the quiet hours, or a default channel without an address */
  async change(owner: Owner, change: SettingsChange): Promise<Person> {
    const { timeZone, quiet, defaultChannel } = change;
    const zone = typeof timeZone === 'string' ? ianaTimeZone(timeZone) : timeZone;
    if (typeof timeZone === 'string' && zone === undefined) throw invalidField('time_zone', 'is not an IANA time zone');
    if (quiet && quiet.from === quiet.to) throw invalidField('quiet_to', 'must differ from quiet_from');
    const person = await this.person(owner);
    if (typeof defaultChannel === 'string' && !person.contacts.some(({ channel }) => channel === defaultChannel))
      throw invalidField('default_channel', 'you have no address of this channel');
    const { storage, clock } = this.#deps;
    await storage.writes.write(async (tx) => {
      await updateSettings(tx, owner.userId, { ...change, timeZone: zone });
      const digest = digestOf((await this.person(owner, tx)).settings);
      // Whoever wants none any more gets the one that was begun at its time.
      if (digest && (change.digest || zone !== undefined)) await moveDigest(tx, owner.userId, nextDigestAt(digest, clock.now()));
    });
    return this.person(owner);
  }

  async listOptouts(owner: Owner): Promise<readonly Optout[]> {
    return (await this.person(owner)).optouts;
  }

  /** The person does not want this any more. Nothing happens for somebody who has left the team. */
  async optOut({ teamId, userId }: Owner, scope: OptoutScope, scopeId: string): Promise<void> {
    const { storage, clock } = this.#deps;
    const at = clock.now();
    await insertOptout(storage.db, { teamId, userId, id: newId(at), scope, scopeId: scope === 'all' ? '' : scopeId, at });
  }

  /** @throws AppError `not_found` */
  async optIn(owner: Owner, id: string): Promise<void> {
    if (!(await deleteOptout(this.#deps.storage.db, { ...owner, id }))) throw notFound('unsubscription');
  }

  /** For the pages behind links. Undefined for somebody who is no member of the team. */
  async namesOf(link: Owner & { groupId?: string }): Promise<{ email: string; team: string; group: string | null } | undefined> {
    return selectNames(this.#deps.storage.db, link);
  }

  /** The address to send to. @throws AppError `internal` when it cannot be decrypted */
  async open({ id, sealed, email }: Contact): Promise<ContactAddress> {
    if (sealed === null) return { channel: 'email', to: email ?? '' };
    return JSON.parse(await this.#deps.secrets.decryptText(purposeOf(id), sealed)) as ContactAddress;
  }

  /**
   * A receiver has said that nothing arrives there any more. Inside a write. @param off `at`: when it was tried
   * @returns false when it is off already, or was proved after that: a provider may say it a day later
   */
  async switchOff(tx: DbOrTx, contact: { userId: string; id: string }, off: { reason: OffReason; at: number }): Promise<boolean> {
    if (!(await isContactOn(tx, contact, off.at))) return false;
    return setContactState(tx, contact, { offReason: off.reason, now: this.#deps.clock.now() });
  }

  /** The chat of a person has another number now, as Telegram says. */
  async followChat(owner: Owner, contactId: string, chatId: string): Promise<void> {
    const { storage, clock, secrets, channels } = this.#deps;
    const contact = await this.#find(owner, contactId);
    if (contact.channel !== 'telegram') return;
    const address = { channel: 'telegram', chatId } as const;
    const sealed = await secrets.encrypt(purposeOf(contact.id), JSON.stringify(address));
    const moved = {
      ...contact,
      sealed,
      addressKey: this.#keyOf(address),
      bucket: bucketOfAddress(channels, address),
      shown: showContact(address),
    };
    await moveContact(storage.db, moved, clock.now());
  }

  async #seal(userId: string, address: ContactAddress, verifiedAt: number | null): Promise<SealedContact> {
    const { clock, secrets, channels } = this.#deps;
    const now = clock.now();
    const id = newId(now);
    return {
      id,
      userId,
      channel: address.channel,
      addressKey: this.#keyOf(address),
      bucket: bucketOfAddress(channels, address),
      shown: showContact(address),
      verifiedAt,
      offReason: null,
      offAt: null,
      createdAt: now,
      sealed: await secrets.encrypt(purposeOf(id), JSON.stringify(address)),
      email: null,
    };
  }

  async #find(owner: Owner, contactId: string): Promise<Contact> {
    const contact = (await this.person(owner)).contacts.find(({ id }) => id === contactId);
    if (!contact) throw notFound('contact');
    return contact;
  }

  #keyOf(address: ContactAddress): string {
    return this.#deps.secrets.fingerprints(ADDRESS_PURPOSE, identityOfContact(address))[0]!;
  }
}

/** Names the contact: one stored address cannot take the place of another. */
function purposeOf(id: string): string {
  return `contact ${id}`;
}

function haveAlready(cause?: unknown): AppError {
  return new AppError('conflict', 'you have this address already', { cause });
}

function refuseOneMore({ channel, addressKey }: Contact, present: readonly Contact[]): void {
  if (present.some((contact) => contact.addressKey === addressKey)) throw haveAlready();
  const others = present.filter((contact) => contact.channel === channel && contact.sealed !== null);
  if (channel === 'web_push' && others.length >= MAX_BROWSERS)
    throw new AppError('conflict', `a person has at most ${MAX_BROWSERS} browsers; delete one first`);
  if (channel !== 'web_push' && others.length > 0) throw haveOther(channel);
}

function haveOther(channel: ContactChannel): AppError {
  return new AppError('conflict', `you have an address for ${channel} already; delete it first`);
}

function chatOf({ contacts }: Person): Contact | undefined {
  return contacts.find(({ channel }) => channel === 'telegram');
}

/** It is proved, and what it is off for is the person's own decision. */
function isSettled({ verifiedAt, offReason }: Contact): boolean {
  return verifiedAt !== null && (offReason === null || isOwnDecision(offReason));
}

function isOwnDecision(offReason: NonNullable<Contact['offReason']>): boolean {
  return offReason === SWITCHED_OFF || offReason === 'unsubscribed';
}

/** Language and time zone of a person's messages. */
export function readerOf({ settings }: Person): Reader {
  return { locale: LOCALES.find((locale) => locale === settings.locale) ?? 'en', timeZone: settings.timeZone ?? 'UTC' };
}
