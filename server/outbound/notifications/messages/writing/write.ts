import { newId } from '../../../../platform/core/ids.ts';
import type { Tx } from '../../../../platform/storage/db.ts';
import type { Revision } from '../../threads/types.ts';
import type { AddressBook } from '../addresses.ts';
import type { Channels } from '../../channels/set.ts';
import type { ChannelName } from '../../channels/types.ts';
import { EXPIRES_AFTER_MS } from '../schedule.ts';
import { topicsFor } from '../topics/choose.ts';
import { selectTopicEvents } from '../topics/store.ts';
import { deleteWithheld, insertMessages, selectLinks, supersede } from './store.ts';

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
  const groupIds = [...new Set(revisions.map(({ thread }) => thread.group_id))];
  const links = await selectLinks(tx, teamId, groupIds);
  const events = await selectTopicEvents(tx, teamId, groupIds);
  const occasions = new Map(
    revisions.map(({ thread: { group_id: id, kind } }) => [
      occasionName(id, kind),
      { group: { id, ...links.get(id)! }, topicIds: topicsFor(events.get(id) ?? [], kind) },
    ]),
  );
  const planned = await addresses.plan(tx, teamId, [...occasions.values()]);
  const plans = new Map([...occasions.keys()].map((name, index) => [name, planned[index] ?? []]));
  for (const { thread, kind, withheld } of revisions) {
    const plan = plans.get(occasionName(thread.group_id, thread.kind))!;
    if (withheld !== null) await deleteWithheld(tx, teamId, thread.id, withheld);
    else await supersede(tx, teamId, thread.id, thread.revision, now);
    const common = { team_id: teamId, thread_id: thread.id, group_id: thread.group_id, revision: thread.revision, kind };
    const rest = { attempts: 0, claim: null, claimed_until: null, provider_ref: null, created_at: now };
    await insertMessages(
      tx,
      plan.map(({ recipient, bucket, reason }) => {
        const why = withheld ?? (reason === null && !channels[recipient.channel as ChannelName] ? 'channel_unavailable' : reason);
        const isSent = why === null;
        return {
          id: newId(now),
          ...common,
          recipient_type: recipient.type,
          recipient_id: recipient.id,
          channel: recipient.channel,
          ...rest,
          state: isSent ? 'pending' : 'withheld',
          reason: why,
          bucket: isSent ? bucket : '',
          due_at: isSent ? now : null,
          expires_at: isSent ? now + EXPIRES_AFTER_MS : null,
          settled_at: isSent ? null : now,
        };
      }),
    );
  }
}

function occasionName(groupId: string, kind: string): string {
  return `${groupId} ${kind}`;
}
