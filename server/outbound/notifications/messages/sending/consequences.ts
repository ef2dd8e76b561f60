import { newId } from '../../../../platform/core/ids.ts';
import { insertNotices } from '../../../../platform/notices/store.ts';
import type { Tx } from '../../../../platform/storage/db.ts';
import type { Channels } from '../../channels/set.ts';
import type { ChannelName, OffReason, SendResult } from '../../channels/types.ts';
import type { AddressBook } from '../addresses.ts';
import { EXPIRES_AFTER_MS } from '../schedule.ts';
import { FALLBACK, HELD_BACK } from '../types.ts';
import type { MessageRow } from '../types.ts';
import { readBudget } from '../writing/budget.ts';
import { insertMessages, selectAddressee, selectWays } from './store.ts';
import type { Settlement } from './store.ts';

/** What an answer means beyond its message. */

/** So many failures, and the person's next channel is used as well. */
const FAILURES = 3;
/** Of what somebody waits for, the sender is told; the others have no other way of use. */
const WITHOUT_OTHER_WAY = new Set(['test', 'digest', 'acknowledged', HELD_BACK]);

export interface ConsequencesDeps {
  addresses: AddressBook;
  channels: Channels;
}

export interface Attempt {
  result: SendResult;
  settlement: Settlement;
  /** Of the contact or target that was asked. */
  addressId: string;
  by: { groupId: string; topicIds: readonly string[] };
  /** When the provider took it or refused it: what was proved later is another address. */
  at: number;
  now: number;
}

/** In the transaction that records the attempt. */
export async function drawConsequences(tx: Tx, message: MessageRow, attempt: Attempt, deps: ConsequencesDeps): Promise<void> {
  await switchOffGone(tx, message, attempt, deps);
  await helpOut(tx, message, attempt, deps);
}

/** Nothing is sent any more to an address of which the provider says that it is gone. */
export async function switchOffGone(
  tx: Tx,
  message: MessageRow,
  { result, addressId, at, now }: Attempt,
  deps: ConsequencesDeps,
): Promise<void> {
  if (result.outcome !== 'never' || result.addressOff === undefined) return;
  await switchOff(tx, message, { addressId, reason: result.addressOff, at, now }, deps);
}

/** A person whose channel does not work is told by their next one. */
export async function helpOut(tx: Tx, message: MessageRow, attempt: Attempt, deps: ConsequencesDeps): Promise<void> {
  if (wantsOtherWay(message, attempt)) await addOtherWay(tx, message, attempt, deps);
}

/** Administrators hear of it once: an address that is off gets no further message. */
async function switchOff(
  tx: Tx,
  message: MessageRow,
  { addressId, reason, at, now }: { addressId: string; reason: OffReason; at: number; now: number },
  { addresses }: ConsequencesDeps,
): Promise<void> {
  const { team_id: teamId, recipient_id: id, channel, address } = message;
  const holder = { type: message.recipient_type as 'person' | 'target', id };
  if (!(await addresses.switchOff(tx, teamId, holder, addressId, { reason, at }))) return;
  const notice = {
    teamId,
    kind: 'delivery.failing',
    phase: 'info',
    severity: 'warning',
    key: `delivery:${addressId}`,
    recordId: addressId,
    version: now,
    groupId: message.group_id,
    at: now,
    data: { channel, address: address ?? '', reason, ...(await selectAddressee(tx, message)) },
  } as const;
  await insertNotices(tx, [notice], now);
}

function wantsOtherWay(message: MessageRow, { result, settlement }: Attempt): boolean {
  if (message.recipient_type !== 'person' || message.reason === FALLBACK || WITHOUT_OTHER_WAY.has(message.kind)) return false;
  if (result.outcome === 'never') return true;
  return result.outcome === 'retry' && settlement.state === 'pending' && settlement.attempts === FAILURES && message.attempts < FAILURES;
}

async function addOtherWay(tx: Tx, message: MessageRow, { by, now }: Attempt, { addresses, channels }: ConsequencesDeps): Promise<void> {
  const ways = await selectWays(tx, message);
  // It helps out already: after three failures, and the message failed for good only later.
  if (ways.some(({ reason }) => reason === FALLBACK)) return;
  const absent = CHANNELS_OF_PEOPLE.filter((name) => channels[name] === undefined);
  const without = [...absent, ...ways.map(({ channel }) => channel)];
  const other = await addresses.otherWay(tx, message.team_id, by, message.recipient_id, without);
  if (!other) return;
  const row = {
    ...message,
    id: newId(now),
    channel: other.recipient.channel,
    address: other.shown,
    address_id: other.addressId,
    bucket: other.bucket,
    state: 'pending',
    reason: FALLBACK,
    attempts: 0,
    due_at: now,
    expires_at: now + EXPIRES_AFTER_MS,
    claim: null,
    claimed_until: null,
    provider_ref: null,
    delivered_at: null,
    read_at: null,
    subject: null,
    created_at: now,
    settled_at: null,
  };
  const budget = await readBudget(tx, message.team_id, [other], now);
  await insertMessages(tx, budget.apply([row]));
}

const CHANNELS_OF_PEOPLE: readonly ChannelName[] = ['email', 'telegram', 'web_push', 'whatsapp', 'sms'];
