import { newId } from '../../../../platform/core/ids.ts';
import type { Tx } from '../../../../platform/storage/db.ts';
import type { ChannelName } from '../../channels/types.ts';
import type { Revision } from '../../threads/types.ts';
import { EXPIRES_AFTER_MS } from '../schedule.ts';
import { insertMessages, selectTold, withdrawCalls } from './store.ts';
import type { Told } from './store.ts';

/**
 * Channels where a later message replies to the first one of its thread or replaces it. On the others, that somebody has taken a thread over
 * would be one more message without a use.
 */
const JOINING: readonly ChannelName[] = ['email', 'telegram', 'pagerduty', 'ntfy', 'web_push', 'webhook'];

/** Tells those who were told of a thread who has taken it over; whoever did it knows. Calls for help that were not sent yet are not needed. */
export async function writeTakeover(tx: Tx, teamId: string, { thread }: Pick<Revision, 'thread'>, now: number): Promise<void> {
  await withdrawCalls(tx, teamId, thread.id, now);
  const told = onceEach(await selectTold(tx, teamId, thread.id, JOINING));
  const { acknowledged_by_kind: kind, acknowledged_by: taker } = thread;
  await insertMessages(
    tx,
    told
      .filter(({ recipient_type: type, recipient_id: id }) => type === 'target' || kind !== 'user' || id !== taker)
      .map((recipient) => ({
        ...recipient,
        id: newId(now),
        team_id: teamId,
        thread_id: thread.id,
        router_id: thread.router_id,
        revision: thread.revision,
        kind: 'acknowledged',
        kinds: thread.kinds,
        state: 'pending',
        reason: null,
        attempts: 0,
        due_at: now,
        expires_at: now + EXPIRES_AFTER_MS,
        claim: null,
        claimed_until: null,
        provider_ref: null,
        subject: null,
        created_at: now,
        settled_at: null,
      })),
  );
}

/** Several groups may have told one person; by the first of them. */
function onceEach(told: readonly Told[]): Told[] {
  const first = new Map<string, Told>();
  for (const one of told.toReversed()) first.set([one.recipient_id, one.channel, one.address_id].join(' '), one);
  return [...first.values()].toReversed();
}
