import type { Clock } from '../../../../platform/core/clock.ts';
import type { Log } from '../../../../platform/core/log.ts';
import type { Storage, Tx } from '../../../../platform/storage/db.ts';
import type { OutgoingMessage, SendResult } from '../../channels/types.ts';
import type { AcknowledgeLink, MessageLinks } from '../../leaving/links.ts';
import type { Text, ThreadView } from '../../texts/types.ts';
import { kindsOf } from '../../threads/apply.ts';
import { DELIVERY_FAILING } from '../../threads/match.ts';
import { writeText } from '../../texts/write.ts';
import type { AddressBook, Destination } from '../addresses.ts';
import { acceptAccount, leaveProbe, stopBucket } from '../buckets/store.ts';
import { sendTo } from '../../channels/set.ts';
import type { Channels } from '../../channels/set.ts';
import { EXPIRES_AFTER_MS, attemptWithin, nextAttemptAt } from '../schedule.ts';
import { nextDigestAt } from '../../contacts/digest-time.ts';
import { heldUntil } from '../../contacts/quiet-hours.ts';
import {
  DIGEST,
  EXPIRED,
  GROUP_DELETED,
  HELD_BACK,
  LOOK_FOR_UNMUTE_MS,
  MUTED,
  NEVER_HELD,
  NEVER_MUTED,
  PROVIDER_WAIT,
  QUIET_HOURS,
  UNREADABLE,
} from '../types.ts';
import type { SenderRules } from '../types.ts';
import type { SharedViews } from '../view/read.ts';
import { drawConsequences } from './consequences.ts';
import { kindFor } from './knowledge.ts';
import { CUT_OFF_PAUSE_MS } from './line.ts';
import type { Line } from './line.ts';
import type { MessageOutcomes } from './outcomes.ts';
import { topicsOf } from '../topics/read.ts';
import { muteOf } from '../../threads/telling/moment.ts';
import {
  countHeldBack,
  hasNewer,
  hastenWaiting,
  insertMessageAttempt,
  releaseMessage,
  selectEarlier,
  selectMute,
  settleMessage,
} from './store.ts';
import type { ClaimedMessage, Settlement } from './store.ts';

export interface DeliverDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  addresses: AddressBook;
  channels: Channels;
  rules: SenderRules;
  views: SharedViews;
  line: Line;
  links: Pick<MessageLinks, 'acknowledgeUrl'>;
  /** Of the console, without a slash at the end. */
  publicUrl: string;
  /** From 0 to below 1, to spread retries. */
  random: () => number;
  outcomes: MessageOutcomes;
}

/** A claimed message that may be sent. */
export interface Granted {
  id: string;
  message: ClaimedMessage;
  /** Not null: of a refused account, it is the one message that tries it. See `leaveProbe`. */
  probe: number | null;
}

/** One attempt at a claimed message, with its record. The text is written now: it says what is true now. @throws a storage error */
export async function deliver({ message, probe }: Granted, deps: DeliverDeps, stop: AbortSignal): Promise<void> {
  const { storage, clock } = deps;
  const now = clock.now();
  const settle = async (settlement: Settlement): Promise<void> => {
    const isOurs = await storage.writes.write(async (tx) => {
      const isSettled = await settleMessage(tx, message, settlement);
      await passProbe(tx, { message, probe }, now);
      return isSettled;
    });
    if (isOurs) deps.outcomes.add(message, settlement);
  };
  const { attempts } = message;
  if (message.expires_at !== null && message.expires_at <= now) {
    // Of a test, somebody wants to know why.
    await settle({ state: 'failed', reason: message.kind === 'test' ? (message.reason ?? EXPIRED) : EXPIRED, attempts, now });
    return;
  }
  const { recipient_type: type, recipient_id: id, channel } = message;
  const recipient = { type: type as 'person' | 'target', id, channel, addressId: message.address_id };
  const isOfAllGroups = message.kind === DIGEST;
  const by = { groupId: message.group_id, topicIds: isOfAllGroups ? [] : await topicsOf(storage.db, message), isOfAllGroups };
  const found = await deps.addresses.open(storage.db, message.team_id, by, recipient);
  if ('reason' in found || !deps.channels[found.address.channel]) {
    const reason = 'reason' in found ? found.reason : 'channel_unavailable';
    if (reason === UNREADABLE)
      deps.log.error(
        { team_id: message.team_id, source: `${message.recipient_type} ${id}` },
        'the address of a notification cannot be decrypted',
      );
    await settle({ state: 'withheld', reason, attempts, now });
    return;
  }
  const heldBack = message.kind === HELD_BACK ? await countHeldBack(storage.db, message) : 0;
  if (message.kind === HELD_BACK && heldBack === 0) {
    // Another one has said how many.
    await settle({ state: 'superseded', reason: null, attempts, now });
    return;
  }
  const outgoing = await write({ message, heldBack }, found, deps, now);
  if (!outgoing) {
    // The thread went with its group, and this message with it.
    await storage.writes.write((tx) => passProbe(tx, { message, probe }, now));
    return;
  }
  if (message.kind === DIGEST && outgoing.thread.itemCount === 0) {
    // All that it was to say went with its group.
    await settle({ state: 'superseded', reason: null, attempts, now });
    return;
  }
  const wait = await waitOf(message, found, outgoing.thread, { storage, now });
  if (wait) {
    await settle(wait);
    return;
  }
  const started = performance.now();
  const signal = AbortSignal.any([stop, AbortSignal.timeout(attemptWithin(message, deps.rules.deadlineMs, now))]);
  const answer = await sendTo(deps.channels, outgoing, found.address, signal);
  const durationMs = Math.round(performance.now() - started);
  // Its own deadline ended it, not the end of this process.
  const isTooLate = answer.outcome === 'stopped' && !stop.aborted;
  const result: SendResult = isTooLate ? { outcome: 'retry', error: 'timed_out', detail: '' } : answer;
  if (result.outcome === 'stopped') {
    await storage.writes.write(async (tx) => {
      await releaseMessage(tx, message);
      await leaveProbe(tx, message.bucket, probe);
    });
  } else {
    await record({ message, probe }, { text: outgoing.text, result, addressId: found.addressId, by }, { at: now, durationMs }, deps);
    if (result.outcome === 'sent' && result.movedTo !== undefined)
      await deps.addresses.followChat(message.team_id, recipient, found.addressId, result.movedTo);
  }
}

/**
 * Why a message is not sent now although it is due: the group has been muted or deleted since it was decided, or the person sleeps. Undefined
 * when it is sent.
 */
async function waitOf(
  message: ClaimedMessage,
  { quiet, digest = null }: Destination,
  thread: ThreadView,
  { storage, now }: { storage: Storage; now: number },
): Promise<Settlement | undefined> {
  const { kind, severity } = thread;
  const { attempts } = message;
  const isSilenced = isSilencedByMute(message, kind);
  const group = isSilenced ? await selectMute(storage.db, message.team_id, message.group_id) : undefined;
  if (isSilenced && !group) return { state: 'withheld', reason: GROUP_DELETED, attempts, now };
  const mute = group ? muteOf(group, now) : null;
  // What is over, or has no end, is not told later: as when it is decided during a mute.
  if (mute && !isOpen(thread)) return { state: 'withheld', reason: MUTED, attempts, now };
  if (mute) return heldBack(MUTED, mute.until ?? now + LOOK_FOR_UNMUTE_MS, attempts);
  const until = NEVER_HELD.has(message.kind) ? null : heldUntil(quiet ?? null, severity, now);
  if (until !== null) return heldBack(QUIET_HOURS, until, attempts);
  // What began and ended while the person slept is no message any more.
  if (message.state !== 'held' || message.reason !== QUIET_HOURS || kind !== 'was_away') return undefined;
  // The digest of the minute in which the quiet hours end has it already.
  const digestAt = digest === null ? null : nextDigestAt(digest, (message.due_at ?? now) - 1);
  return { state: 'withheld', reason: 'over_in_quiet_hours', attempts, now, digestAt };
}

function heldBack(reason: string, until: number, attempts: number): Settlement {
  return { state: 'held', reason, dueAt: until, expiresAt: until + EXPIRES_AFTER_MS, attempts };
}

/** Ends of what was told come during a mute, too, and so does what somebody waits for or has to mend. */
function isSilencedByMute(message: ClaimedMessage, kind: ThreadView['kind']): boolean {
  if (kind === 'resolve' || NEVER_MUTED.has(message.kind)) return false;
  return !kindsOf(message).includes(DELIVERY_FAILING);
}

/** No request was made: if the message was to try a refused account, the next one does so at once. */
async function passProbe(tx: Tx, { message, probe }: Pick<Granted, 'message' | 'probe'>, now: number): Promise<void> {
  if (probe === null) return;
  await leaveProbe(tx, message.bucket, probe);
  await hastenWaiting(tx, message.bucket, now);
}

/** Undefined when its thread is gone. @param heldBack for a message that says how many there are */
async function write(
  { message, heldBack }: { message: ClaimedMessage; heldBack: number },
  { reader, unsubscribeUrl }: Destination,
  { storage, links, views, publicUrl }: DeliverDeps,
  now: number,
): Promise<OutgoingMessage | undefined> {
  const earlier = await selectEarlier(storage.db, message);
  const told = await views.read(storage.db, message, { kind: kindFor(message, earlier), publicUrl, now });
  if (!told) return undefined;
  const view = message.kind === HELD_BACK ? howManyMore(told, heldBack, publicUrl) : told;
  const sent = earlier.filter(({ state }) => state === 'sent');
  const providerRef = sent[0]?.provider_ref ?? undefined;
  const text = writeText(view, { locale: reader?.locale ?? 'en', timeZone: reader?.timeZone ?? view.siteTimeZone ?? 'UTC' });
  return {
    id: message.id,
    thread: view,
    text: { ...text, acknowledgeUrl: mayTakeOver(reader) && canTakeOver(view) ? links.acknowledgeUrl(linkOf(message), now) : null },
    previousIds: sent.map(({ id }) => id),
    isTest: message.kind === 'test',
    ...(providerRef === undefined ? {} : { providerRef }),
    ...(unsubscribeUrl === undefined ? {} : { unsubscribeUrl }),
  };
}

/** Instead of the thread: all that the person did not get, in the console. */
function howManyMore(view: ThreadView, messages: number, publicUrl: string): ThreadView {
  const nothing = { items: [], itemCount: 0, openCount: 0, endedAt: null, flapping: null, stillOpen: 0, acknowledgedBy: null };
  return {
    ...view,
    ...nothing,
    group: null,
    kind: 'digest',
    severity: 'info',
    subject: { type: 'held_back', messages },
    url: `${publicUrl}/`,
  };
}

function isOpen({ endedAt, openCount }: ThreadView): boolean {
  return endedAt === null && openCount > 0;
}

/** What is over, or has no end, or what somebody has taken over, needs nobody. */
function canTakeOver(view: ThreadView): boolean {
  const { kind, acknowledgedBy } = view;
  const isCall = kind !== 'test' && kind !== 'digest' && kind !== 'acknowledged';
  return isCall && isOpen(view) && acknowledgedBy === null;
}

/** As the API asks of a person. Whoever reads an address of the team has no role. */
function mayTakeOver(reader: Destination['reader']): boolean {
  return reader === undefined || reader.role !== 'viewer';
}

function linkOf({ team_id: teamId, recipient_type: type, recipient_id: id, thread_id: threadId }: ClaimedMessage): AcknowledgeLink {
  return { teamId, reader: { kind: type === 'target' ? 'target' : 'user', id }, threadId };
}

interface Asked {
  text: Text;
  result: SendResult;
  addressId: string;
  by: { groupId: string; topicIds: readonly string[] };
}

async function record(
  { message, probe }: Pick<Granted, 'message' | 'probe'>,
  { text, result, addressId, by }: Asked,
  time: { at: number; durationMs: number },
  deps: DeliverDeps,
): Promise<void> {
  const { storage, clock, rules } = deps;
  const now = clock.now();
  deps.line.note(message.channel, result);
  const failed = 'error' in result ? result : { error: null, detail: null };
  const settled = await storage.writes.write(async (tx) => {
    const { subject, subjectTimeZone } = text;
    const { error, detail } = failed;
    await insertMessageAttempt(tx, message, { ...time, subject, subjectTimeZone, outcome: result.outcome, error, detail });
    const isCutOff = deps.line.isCut && result.outcome === 'retry';
    const pauseMs = isCutOff ? CUT_OFF_PAUSE_MS : pauseOf(result, rules);
    const isRefused = result.outcome === 'config' || isCutOff;
    if (pauseMs > 0 && !isOwnFault(message, result)) await stopBucket(tx, message.bucket, now + pauseMs, isRefused);
    if (result.outcome === 'sent' || result.outcome === 'never') await acceptAccount(tx, message.bucket);
    else await leaveProbe(tx, message.bucket, probe);
    const decided = settlementOf(message, result, { now, pauseMs, random: deps.random() });
    const isOutdated = decided.state === 'pending' && (await hasNewer(tx, message));
    const settlement: Settlement = isOutdated ? { state: 'superseded', reason: null, attempts: decided.attempts, now } : decided;
    const isOurs = await settleMessage(tx, message, settlement);
    if (isOurs && !isOutdated) await drawConsequences(tx, message, { result, settlement, addressId, by, at: now, now }, deps);
    return isOurs ? settlement : undefined;
  });
  if (settled) deps.outcomes.add(message, settled);
}

/** What a team has entered is wrong: its other addresses at the same provider need not wait. The operator's account is everybody's. */
function isOwnFault({ recipient_type: type, channel }: ClaimedMessage, { outcome }: SendResult): boolean {
  return outcome === 'config' && type === 'target' && channel !== 'telegram';
}

/** The provider said when, or refuses our account: then every message of the bucket waits, and the attempt does not count. */
function pauseOf(result: SendResult, { pauseMs }: SenderRules): number {
  if (result.outcome === 'config') return pauseMs;
  return result.outcome === 'retry' ? (result.retryAfterMs ?? 0) : 0;
}

/** The provider has asked for the pause, or refuses the account. */
function isAsked(result: SendResult): boolean {
  return result.outcome === 'config' || (result.outcome === 'retry' && result.retryAfterMs !== undefined);
}

function settlementOf(
  message: ClaimedMessage,
  result: SendResult,
  { now, pauseMs, random }: { now: number; pauseMs: number; random: number },
): Settlement {
  const { attempts } = message;
  switch (result.outcome) {
    case 'sent':
      return { state: 'sent', ref: result.ref ?? null, attempts: attempts + 1, now };
    case 'never':
      return { state: 'failed', reason: result.addressOff ?? result.error, attempts: attempts + 1, now };
    case 'config':
    case 'stopped':
    case 'retry': {
      const counted = pauseMs > 0 ? attempts : attempts + 1;
      const dueAt = pauseMs > 0 ? now + pauseMs : nextAttemptAt({ attempts: counted, now, random });
      const last = message.expires_at ?? dueAt;
      // Somebody waits for the result of a test, and there is no time for another attempt.
      if (message.kind === 'test' && last <= dueAt)
        return { state: 'failed', reason: 'error' in result ? result.error : EXPIRED, attempts: counted, now };
      // The last look at it is when it expires.
      return { state: 'pending', dueAt: Math.min(dueAt, last), attempts: counted, reason: isAsked(result) ? PROVIDER_WAIT : null };
    }
  }
}
