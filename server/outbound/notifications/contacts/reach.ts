import type { ChannelName } from '../channels/types.ts';
import type { Contact, ContactChannel, Digest, Person, PersonSettings, Quiet } from './types.ts';
import { CONTACT_CHANNELS } from './types.ts';

/** Whom a group reaches, and why not the others. Pure. */

/** Stable words. `duplicate`: another entry of the group leads to the same address. */
export const MISSED_REASONS = ['no_address', 'unverified', 'off', 'unsubscribed', 'duplicate'] as const;
export type MissedReason = (typeof MISSED_REASONS)[number];

/** One line of a group. `channel` is the interface's word for it; undefined for the person's own default. */
export type Entry = { type: 'person'; userId: string; channel: string | undefined } | { type: 'target'; targetId: string };

/** What decides about a target. */
export interface TargetState {
  id: string;
  channel: ChannelName;
  addressKey: string;
  bucket: string | null;
  shown: string;
  verifiedAt: number | null;
  offReason: string | null;
}

export interface Reached {
  entry: Entry;
  channel: ChannelName;
  /** Of the person or target: where the message goes. */
  owner: { type: 'contact'; contact: Contact } | { type: 'target'; id: string };
  addressKey: string;
  /** Messages with the same one share a rate. */
  bucket: string | null;
  shown: string;
  /** When a person is not to be disturbed there; null: never. */
  quiet: Quiet | null;
  /** What a person reads together; null: everything comes at once. */
  digest: Digest | null;
}

export interface Missed {
  entry: Entry;
  /** The channel's name, as far as it is known. */
  channel: string;
  reason: MissedReason;
  /** What others see of the address; null without one. */
  shown: string | null;
}

export interface Reach {
  reached: Reached[];
  missed: Missed[];
}

/** Group and topics by which a message comes; a person may have left any of them. */
export interface Occasion {
  groupId: string;
  /** All of them must have been left. Empty: only the group counts. */
  topicIds: readonly string[];
}

export const DEFAULT_CHANNEL: ContactChannel = 'email';

/** Proved addresses, each once, and for every entry that leads to none, the reason. */
export function reachOf(
  entries: readonly Entry[],
  { people, targets }: { people: ReadonlyMap<string, Person>; targets: ReadonlyMap<string, TargetState> },
  occasion: Occasion,
): Reach {
  const reach: Reach = { reached: [], missed: [] };
  const taken = new Set<string>();
  for (const entry of entries) {
    const found =
      entry.type === 'person' ? ofPerson(entry, people.get(entry.userId), occasion) : ofTarget(entry, targets.get(entry.targetId));
    for (const one of found) {
      if ('reason' in one) reach.missed.push(one);
      else if (taken.has(one.addressKey))
        reach.missed.push({ entry: one.entry, channel: one.channel, reason: 'duplicate', shown: one.shown });
      else {
        taken.add(one.addressKey);
        reach.reached.push(one);
      }
    }
  }
  return reach;
}

function ofPerson(entry: Entry & { type: 'person' }, person: Person | undefined, occasion: Occasion): (Reached | Missed)[] {
  const channel = channelOf(entry.channel ?? person?.settings.defaultChannel ?? DEFAULT_CHANNEL);
  const missed = (reason: MissedReason, shown: string | null = null): Missed[] => [{ entry, channel, reason, shown }];
  const contacts = person?.contacts.filter((contact) => contact.channel === channel) ?? [];
  if (person === undefined || contacts.length === 0) return missed('no_address');
  const usable = contacts.filter(({ verifiedAt, offReason }) => verifiedAt !== null && offReason === null);
  if (usable.length === 0) return missed(reasonOf(contacts), contacts[0]!.shown);
  if (hasLeft(person, occasion)) return missed('unsubscribed', usable[0]!.shown);
  // A browser is one of several of the same person; of the other channels the first address is the person's choice.
  const chosen = channel === 'web_push' ? usable : usable.slice(0, 1);
  return chosen.map((contact) => ({
    entry,
    channel: contact.channel,
    owner: { type: 'contact', contact },
    addressKey: contact.addressKey,
    bucket: contact.bucket,
    shown: contact.shown,
    quiet: quietOf(person, contact.channel),
    digest: digestOf(person.settings),
  }));
}

function quietOf({ settings: { quiet, timeZone } }: Person, channel: ContactChannel): Quiet | null {
  return quiet === null || channel === 'email' ? null : { hours: quiet, timeZone: timeZone ?? 'UTC' };
}

export function digestOf({ digest, timeZone }: Pick<PersonSettings, 'digest' | 'timeZone'>): Digest | null {
  const { every } = digest;
  return every === null ? null : { ...digest, every, timeZone: timeZone ?? 'UTC' };
}

/** Where else a person is reached: their next proved address by none of these channels, and not of what they have left. */
export function otherWay(person: Person, without: readonly string[], occasion: Occasion): Reached | undefined {
  if (hasLeft(person, occasion)) return undefined;
  const [next] = CONTACT_CHANNELS.filter((channel) => !without.includes(channel)).flatMap((channel) =>
    ofPerson({ type: 'person', userId: person.id, channel }, person, occasion).filter((one): one is Reached => !('reason' in one)),
  );
  return next;
}

/** The interface calls it push. */
function channelOf(name: string): string {
  return name === 'push' ? 'web_push' : name;
}

function reasonOf(contacts: readonly Contact[]): MissedReason {
  const off = contacts.find(({ verifiedAt, offReason }) => verifiedAt !== null && offReason !== null);
  if (off === undefined) return 'unverified';
  return off.offReason === 'unsubscribed' ? 'unsubscribed' : 'off';
}

function hasLeft({ optouts }: Person, { groupId, topicIds }: Occasion): boolean {
  const left = (scope: string, id: string): boolean => optouts.some((optout) => optout.scope === scope && optout.scopeId === id);
  if (left('all', '') || left('group', groupId)) return true;
  return topicIds.length > 0 && topicIds.every((id) => left('topic', id));
}

function ofTarget(entry: Entry & { type: 'target' }, target: TargetState | undefined): (Reached | Missed)[] {
  if (target === undefined) return [{ entry, channel: '', reason: 'no_address', shown: null }];
  const { id, channel, addressKey, bucket, shown } = target;
  if (target.verifiedAt === null) return [{ entry, channel, reason: 'unverified', shown }];
  if (target.offReason !== null) return [{ entry, channel, reason: 'off', shown }];
  return [{ entry, channel, owner: { type: 'target', id }, addressKey, bucket, shown, quiet: null, digest: null }];
}

export function isContactChannel(name: string): name is ContactChannel {
  return (CONTACT_CHANNELS as readonly string[]).includes(name);
}
