import { newId } from '../../../../platform/core/ids.ts';
import type { Tx } from '../../../../platform/storage/db.ts';
import { escalatedTo } from '../../threads/telling/care.ts';
import type { Revision } from '../../threads/types.ts';
import { DELIVERY_FAILING } from '../../threads/match.ts';
import type { GroupEntries } from '../../contacts/addresses.ts';
import type { AddressBook, Occasion } from '../addresses.ts';
import { heldUntil } from '../../contacts/quiet-hours.ts';
import { QUIET_HOURS } from '../types.ts';
import type { Channels } from '../../channels/set.ts';
import type { ChannelName } from '../../channels/types.ts';
import { EXPIRES_AFTER_MS, TEST_EXPIRES_AFTER_MS } from '../schedule.ts';
import { topicsFor } from '../topics/choose.ts';
import { selectTopicEvents } from '../topics/store.ts';
import { readBudget } from './budget.ts';
import type { PlannedMessage } from './plan.ts';
import { deleteWithheld, insertMessages, selectAdmins, selectLinks, supersede } from './store.ts';
import { writeTakeover } from './takeover.ts';

export interface WritingDeps {
  addresses: AddressBook;
  channels: Channels;
}

/**
 * Stores one row for each revision, person and channel, in the transaction that decided the revision: also for those who get nothing, with the
 * reason. Texts are written when a message is sent.
 */
export async function writeMessages(
  { addresses, channels }: WritingDeps,
  tx: Tx,
  teamId: string,
  revisions: readonly Revision[],
  now: number,
): Promise<void> {
  for (const revision of revisions) if (revision.kind === 'acknowledged') await writeTakeover(tx, teamId, revision, now);
  const told = revisions.filter(({ kind }) => kind !== 'acknowledged');
  const groupIds = [...new Set(told.flatMap(groupsOf))];
  const links = await selectLinks(tx, teamId, groupIds);
  const events = await selectTopicEvents(tx, teamId, groupIds);
  const admins = told.some(isForAdmins) ? await selectAdmins(tx, teamId) : [];
  const occasions = new Map(
    told.flatMap((revision) =>
      groupsOf(revision).map((id): [string, Occasion] => [
        occasionName(id, revision.thread.kind),
        occasionOf(revision, { id, ...links.get(id)! }, topicsFor(events.get(id) ?? [], revision.thread.kind), admins),
      ]),
    ),
  );
  const planned = await addresses.plan(tx, teamId, [...occasions.values()]);
  const budget = await readBudget(tx, teamId, planned.flat(), now);
  const plans = new Map([...occasions.keys()].map((name, index) => [name, planned[index] ?? []]));
  for (const revision of told) {
    const { thread, withheld } = revision;
    const groups = groupsOf(revision);
    if (withheld !== null) await deleteWithheld(tx, teamId, thread.id, groups, withheld);
    else await supersede(tx, teamId, thread, groups, now);
    const taken = new Set<string>();
    for (const groupId of groups) {
      const planned = plans.get(occasionName(groupId, thread.kind))!.map((one) => onlyOnce(one, taken));
      const rows = planned.map((one) => rowOf(one, { revision, groupId, teamId, channels, now }));
      await insertMessages(tx, budget.apply(rows));
    }
  }
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

interface Writing {
  revision: Revision;
  groupId: string;
  teamId: string;
  channels: Channels;
  now: number;
}

function rowOf(
  { recipient, bucket, addressId, quiet, reason, shown }: PlannedMessage,
  { revision, groupId, teamId, channels, now }: Writing,
) {
  const { thread, kind, withheld } = revision;
  const why = withheld ?? (reason === null && !channels[recipient.channel as ChannelName] ? 'channel_unavailable' : reason);
  const isSent = why === null;
  const held = isSent && kind !== 'test' ? heldUntil(quiet, thread.severity, now) : null;
  const dueAt = held ?? now;
  return {
    id: newId(now),
    team_id: teamId,
    thread_id: thread.id,
    group_id: groupId,
    revision: thread.revision,
    kind,
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
    expires_at: isSent ? dueAt + (kind === 'test' ? TEST_EXPIRES_AFTER_MS : EXPIRES_AFTER_MS) : null,
    claim: null,
    claimed_until: null,
    provider_ref: null,
    subject: null,
    created_at: now,
    settled_at: isSent ? null : now,
  };
}

function occasionName(groupId: string, kind: string): string {
  return `${groupId} ${kind}`;
}
