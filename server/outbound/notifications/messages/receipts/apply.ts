import type { Tx } from '../../../../platform/storage/db.ts';
import type { Receipt, Undelivered } from '../../channels/types.ts';
import { helpOut, switchOffGone } from '../sending/consequences.ts';
import type { Attempt, ConsequencesDeps } from '../sending/consequences.ts';
import { topicsOf } from '../topics/read.ts';
import { UNDELIVERED } from '../types.ts';
import type { MessageRow } from '../types.ts';
import { hasNewer, insertMessageAttempt, selectThreads, storeDelivered, storeRead, storeUndelivered } from './store.ts';
import { isStillOfUse } from './use.ts';

/** A newer message of the thread that the person gets by the same channel, or will. */
const TOLD = ['pending', 'held', 'sent'];

/** When it happened. A provider's clock may be wrong: not before the message was sent, and not later than now. */
export function timeOf({ at }: Receipt, { settled_at: sentAt }: MessageRow, now: number): number {
  return Math.min(now, Math.max(at ?? now, sentAt ?? 0));
}

/** The message is with the person. @returns false when that changes nothing */
export function arrive(tx: Tx, message: MessageRow, receipt: Receipt, now: number): Promise<boolean> {
  const at = timeOf(receipt, message, now);
  return receipt.says === 'read' ? storeRead(tx, message, at) : storeDelivered(tx, message, at);
}

/** The message will never be with the person: it has failed after all, and what follows is what follows a refusal. @returns false when that changes nothing */
export async function fail(tx: Tx, message: MessageRow, said: Undelivered, now: number, deps: ConsequencesDeps): Promise<boolean> {
  const { detail, addressOff } = said;
  if (!(await storeUndelivered(tx, message, { reason: addressOff ?? UNDELIVERED, now }))) return false;
  const error = addressOff === undefined ? UNDELIVERED : 'gone';
  // What the message said stays.
  const text = { subject: message.subject ?? '', subjectTimeZone: message.subject_time_zone };
  const line = { ...text, at: now, durationMs: 0, outcome: UNDELIVERED, error, detail };
  await insertMessageAttempt(tx, message, line);
  const attempt: Attempt = {
    result: { outcome: 'never', error, detail, ...(addressOff === undefined ? {} : { addressOff }) },
    settlement: { state: 'failed', reason: addressOff ?? UNDELIVERED, attempts: message.attempts, now },
    // What is sent has an address.
    addressId: message.address_id!,
    by: { groupId: message.group_id, topicIds: await topicsOf(tx, message) },
    at: message.settled_at ?? now,
    now,
  };
  await switchOffGone(tx, message, attempt, deps);
  if (await wouldHelp(tx, message)) await helpOut(tx, message, attempt, deps);
  return true;
}

/** A newer message says all, and an opening that is over by now is not told any more. */
async function wouldHelp(tx: Tx, message: MessageRow): Promise<boolean> {
  if (await hasNewer(tx, message, TOLD)) return false;
  const [thread] = await selectThreads(tx, message.team_id, [message.thread_id]);
  return thread !== undefined && isStillOfUse(message, thread);
}
