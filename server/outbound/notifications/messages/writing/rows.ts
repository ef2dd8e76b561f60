import { newId } from '../../../../platform/core/ids.ts';
import type { DbOrTx } from '../../../../platform/storage/db.ts';
import type { Insertable } from 'kysely';
import type { MessagesTable } from '../../../../platform/storage/schema-notices.ts';
import type { Channels } from '../../channels/set.ts';
import type { ChannelName } from '../../channels/types.ts';
import type { GroupEntries } from '../../contacts/addresses.ts';
import { nextDigestAt } from '../../contacts/digest-time.ts';
import { heldUntil } from '../../contacts/quiet-hours.ts';
import { DELIVERY_FAILING } from '../../threads/match.ts';
import { escalatedTo } from '../../threads/telling/care.ts';
import { kindsOf } from '../../threads/apply.ts';
import type { Revision, ThreadRow } from '../../threads/types.ts';
import type { AddressBook, Occasion } from '../addresses.ts';
import { canWait } from '../digests/choose.ts';
import { expiresAfter } from '../schedule.ts';
import { topicsFor } from '../topics/choose.ts';
import { selectTopicEvents } from '../topics/store.ts';
import { DIGEST, NEVER_HELD, QUIET_HOURS } from '../types.ts';
import { readBudget } from './budget.ts';
import type { PlannedMessage } from './plan.ts';
import { selectAdmins, selectLinks, selectStillToEnd } from './store.ts';
import type { StillToEnd } from './store.ts';

export interface WritingDeps {
  addresses: AddressBook;
  channels: Channels;
}

/** The messages of one revision, as they are stored. */
export interface RevisionRows {
  revision: Revision;
  /** Whom it is for. */
  groups: readonly string[];
  rows: Insertable<MessagesTable>[];
}

/**
 * One row for each revision, person and channel, also for those who get nothing, with the reason. What is stored when something happens, and
 * foretold when somebody asks. Queries only.
 */
export async function planRows(
  { addresses, channels }: WritingDeps,
  db: DbOrTx,
  teamId: string,
  revisions: readonly Revision[],
  now: number,
): Promise<RevisionRows[]> {
  const groupIds = [...new Set(revisions.flatMap(groupsOf))];
  const links = await selectLinks(db, teamId, groupIds);
  const events = await selectTopicEvents(db, teamId, groupIds);
  const admins = revisions.some(isForAdmins) ? await selectAdmins(db, teamId) : [];
  const ends = revisions.filter(({ kind, withheld }) => kind === 'resolve' && withheld === null);
  const endIds = ends.map(({ thread }) => thread.id);
  const stillToEnd = Map.groupBy(await selectStillToEnd(db, teamId, endIds), (told) => `${told.group_id} ${told.thread_id}`);
  const entriesOf = (id: string, { kind, thread }: Revision): GroupEntries & { isOwn: boolean } => {
    const entries = { id, ...links.get(id)! };
    return withThose(entries, kind === 'resolve' ? (stillToEnd.get(`${id} ${thread.id}`) ?? []) : []);
  };
  const nameOf = (id: string, revision: Revision): string => occasionName(id, revision.thread, entriesOf(id, revision).isOwn);
  const occasions = new Map(
    revisions.flatMap((revision) =>
      groupsOf(revision).map((id): [string, Occasion] => [
        nameOf(id, revision),
        occasionOf(revision, entriesOf(id, revision), topicsFor(events.get(id) ?? [], kindsOf(revision.thread)), admins),
      ]),
    ),
  );
  const planned = await addresses.plan(db, teamId, [...occasions.values()]);
  const budget = await readBudget(db, teamId, planned.flat(), now);
  const plans = new Map([...occasions.keys()].map((name, index) => [name, planned[index] ?? []]));
  return revisions.map((revision) => {
    const groups = groupsOf(revision);
    const taken = new Set<string>();
    const rows = groups.flatMap((groupId) =>
      plans.get(nameOf(groupId, revision))!.map((one) => rowOf(onlyOnce(one, taken), { revision, groupId, teamId, channels, now })),
    );
    return { revision, groups, rows: budget.apply(rows) };
  });
}

/** That messages of a group do not arrive is told to those who can mend it. */
function isForAdmins({ thread }: Revision): boolean {
  return thread.kind === DELIVERY_FAILING;
}

function occasionOf(revision: Revision, group: GroupEntries, topicIds: string[], admins: readonly string[]): Occasion {
  if (!isForAdmins(revision)) return { group, topicIds };
  return { group: { id: group.id, recipients: admins, notifiables: [], targets: [] }, topicIds: [], byAnyWay: true };
}

/** Also those that it was escalated to hear how it goes on. */
function groupsOf({ thread, withheld, groups }: Revision): readonly string[] {
  if (groups) return groups;
  return withheld === null ? [...new Set([thread.group_id, ...escalatedTo(thread)])] : [thread.group_id];
}

/** Several groups may name one person. */
function onlyOnce(message: PlannedMessage, taken: Set<string>): PlannedMessage {
  const { addressId, reason } = message;
  if (reason !== null || addressId === null) return message;
  if (taken.has(addressId)) return { ...message, reason: 'duplicate' };
  taken.add(addressId);
  return message;
}

export interface Writing {
  revision: Revision;
  groupId: string;
  teamId: string;
  channels: Channels;
  now: number;
}

/** A planned message as it is stored. */
export function rowOf(
  { recipient, bucket, addressId, quiet, digest, reason, shown }: PlannedMessage,
  { revision, groupId, teamId, channels, now }: Writing,
) {
  const { thread, kind, withheld } = revision;
  const isReached = reason === null && channels[recipient.channel as ChannelName] !== undefined;
  const unreached = isReached ? null : (reason ?? 'channel_unavailable');
  const digested = isReached && digest !== null && withheld === null && canWait(digest, revision) ? DIGEST : null;
  const why = withheld ?? unreached ?? digested;
  const isSent = why === null;
  const held = isSent && !NEVER_HELD.has(kind) ? heldUntil(quiet, thread.severity, now) : null;
  const dueAt = held ?? now;
  const standsInDigest = isReached && digest !== null && (digested !== null || withheld === 'over_before_told');
  return {
    id: newId(now),
    team_id: teamId,
    thread_id: thread.id,
    group_id: groupId,
    router_id: thread.router_id,
    revision: thread.revision,
    kind,
    kinds: thread.kinds,
    recipient_type: recipient.type,
    recipient_id: recipient.id,
    channel: recipient.channel,
    address: shown,
    address_id: isSent ? addressId : null,
    state: held !== null ? 'held' : isSent ? 'pending' : 'withheld',
    reason: held === null ? why : QUIET_HOURS,
    bucket: isSent ? bucket : '',
    attempts: 0,
    due_at: isSent ? dueAt : null,
    expires_at: isSent ? dueAt + expiresAfter(kind) : null,
    claim: null,
    claimed_until: null,
    provider_ref: null,
    digest_at: standsInDigest ? nextDigestAt(digest, now) : null,
    subject: null,
    created_at: now,
    settled_at: isSent ? null : now,
  };
}

/** Also those whom the group does not name any more: what they were told has an end for them, too. */
function withThose(group: GroupEntries, told: readonly StillToEnd[]): GroupEntries & { isOwn: boolean } {
  const people = new Set([...group.recipients, ...group.notifiables.map(({ id }) => id)]);
  const targets = new Set(group.targets);
  const others = told.filter(({ recipient_type: type, recipient_id: id }) => !(type === 'target' ? targets : people).has(id));
  const notifiables = others.filter(({ recipient_type: type }) => type === 'person');
  return {
    ...group,
    notifiables: [...group.notifiables, ...notifiables.map(({ recipient_id: id, channel }) => ({ id, channel }))],
    targets: [...group.targets, ...others.filter(({ recipient_type: type }) => type === 'target').map(({ recipient_id: id }) => id)],
    isOwn: others.length > 0,
  };
}

/** Revisions of the same kinds reach the same people. @param isOwn this one reaches others as well */
function occasionName(groupId: string, { id, kind, kinds }: ThreadRow, isOwn: boolean): string {
  return `${groupId} ${kind === DELIVERY_FAILING ? kind : ''} ${kinds} ${isOwn ? id : ''}`;
}
