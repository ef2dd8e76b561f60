import { beforeEach, describe, expect, test } from 'vitest';
import { TeamsService } from '../../server/access/teams/service.ts';
import type {
  AddressOf,
  Channel,
  OutgoingMessage,
  Receipt,
  ReceiptChannel,
  SendResult,
} from '../../server/outbound/notifications/channels/types.ts';
import { ProvedAddresses } from '../../server/outbound/notifications/messages/addresses.ts';
import { selectByRef } from '../../server/outbound/notifications/messages/receipts/store.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultFacts } from '../harness/fault-facts.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { makeAddresses } from '../harness/notification-addresses.ts';
import type { Addresses } from '../harness/notification-addresses.ts';
import { followKinds } from '../harness/notifications.ts';
import { FakeMailServer, NotifyBench, seedPerson } from '../harness/notify-bench.ts';
import { learnSizes, plansOf } from '../harness/plans.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const START = Date.parse('2026-01-05T12:00:00Z');
const EMAIL = 'ada@example.org';
const NUMBER = '+34600123456';

/** A provider that takes every message and gives each a reference. */
class FakeTexts<N extends ReceiptChannel> implements Channel<N> {
  readonly name: N;
  readonly limits = { perSecond: 1000, burst: 1000 };
  readonly refs: string[] = [];
  readonly kinds: string[] = [];
  answer: () => SendResult | undefined = () => undefined;

  constructor(name: N) {
    this.name = name;
  }

  bucketOf(): string {
    return this.name;
  }

  async send({ thread }: OutgoingMessage, _address: AddressOf<N>): Promise<SendResult> {
    const refused = this.answer();
    if (refused) return refused;
    this.kinds.push(thread.kind);
    const ref = `${this.name}-${newId(START)}`;
    this.refs.push(ref);
    return { outcome: 'sent', ref };
  }
}

describeEachDatabase('what providers say after they took a message', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let mine: SeededRouter;
  let made: Addresses;
  let mails: FakeMailServer;
  let sms: FakeTexts<'sms'>;
  let whatsapp: FakeTexts<'whatsapp'>;
  let nodes: NotifyBench[];
  let bench: NotifyBench;
  let facts: FaultFacts;
  let ada: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    mine = await seedRouter(storage);
    made = makeAddresses({ storage, clock });
    mails = new FakeMailServer(() => clock.now());
    sms = new FakeTexts('sms');
    whatsapp = new FakeTexts('whatsapp');
    const channels = { email: mails, sms, whatsapp };
    const book = new ProvedAddresses(made.groupAddresses, made.messageLinks);
    // Two control planes on one database: a callback comes to any of them.
    nodes = [1, 2].map(() => new NotifyBench(storage, clock, book, undefined, channels));
    bench = nodes[0]!;
    facts = new FaultFacts(storage, clock, bench, mine.teamId);
    const group = await followKinds(storage, mine.teamId, ['fault.*']);
    ada = await seedPerson(storage, mine.teamId, EMAIL, group);
    await new TeamsService({ storage, clock }).confirmEmail(EMAIL);
    await proved('sms');
    await made.contacts.change(owner(), { defaultChannel: 'sms' });
  });

  const owner = () => ({ teamId: mine.teamId, userId: ada });
  async function proved(channel: ReceiptChannel): Promise<string> {
    const { id } = await made.contacts.add(owner(), channel, { address: NUMBER });
    await storage.db.updateTable('contacts').set({ verified_at: START }).where('id', '=', id).execute();
    return id;
  }
  const fault = (phase: 'open' | 'resolve' = 'open'): Promise<void> =>
    facts.happen(facts.fault(phase, mine.routerId, 'router_offline', 'warning'));
  /** An outage that was told by text message. @returns what the provider calls the message */
  async function told(): Promise<string> {
    await fault();
    await bench.pass(MINUTE);
    expect(sms.kinds).toEqual(['open']);
    return sms.refs[0]!;
  }
  /** Also waits for what helps out: time must not move while it is sent. */
  async function say(says: Receipt['says'], ref: string, at?: number, node = bench): Promise<void> {
    await node.messages.receive('sms', [{ ref, says, ...(at === undefined ? {} : { at }) }]);
    for (const { messages } of nodes) await messages.idle();
  }
  const GONE = { detail: '30005 Unknown destination handset', addressOff: 'no_account' } as const;
  const UNREACHABLE = { detail: '30003 Unreachable destination handset' };
  const log = async () =>
    (await bench.log()).map(({ channel, kind, state, reason }) => `${channel} ${kind} ${state}${reason === null ? '' : ` ${reason}`}`);
  const first = async () => (await bench.log())[0]!;
  const contact = async (channel: string) => (await made.contacts.person(owner())).contacts.find((one) => one.channel === channel)!;

  test('when it was delivered, and read, stands in its row', async () => {
    const ref = await told();
    const sentAt = clock.now();
    await bench.pass(MINUTE);
    await say('delivered', ref);
    expect(await first()).toMatchObject({ state: 'sent', delivered_at: sentAt + MINUTE, read_at: null });
    await bench.pass(MINUTE);
    await say('read', ref, clock.now() - 10 * SECOND);
    expect(await first()).toMatchObject({ delivered_at: sentAt + MINUTE, read_at: sentAt + 2 * MINUTE - 10 * SECOND });
  });

  test('repeated, in any order, and at any control plane: the earliest time counts', async () => {
    const ref = await told();
    const { settled_at: sentAt } = await first();
    const [deliveredAt, readAt] = [sentAt! + 10 * SECOND, sentAt! + 20 * SECOND];
    const orders: Receipt['says'][][] = [
      ['read', 'delivered', 'delivered', 'read'],
      ['delivered', 'read', 'read', 'delivered'],
      ['read', UNREACHABLE, 'delivered', GONE],
    ];
    for (const order of orders) {
      await storage.db.updateTable('messages').set({ delivered_at: null, read_at: null }).execute();
      for (const [n, says] of order.entries()) await say(says, ref, says === 'read' ? readAt : deliveredAt, nodes[n % 2]);
      expect(await first()).toMatchObject({ state: 'sent', delivered_at: deliveredAt, read_at: readAt });
    }
    expect(await log()).toEqual(['sms open sent']);
    expect(await contact('sms')).toMatchObject({ offReason: null });
  });

  test('a clock of the provider that is wrong makes no time before the sending or after now', async () => {
    const ref = await told();
    const { settled_at: sentAt } = await first();
    await say('read', ref, clock.now() + HOUR);
    expect(await first()).toMatchObject({ read_at: clock.now(), delivered_at: clock.now() });
    await say('delivered', ref, sentAt! - HOUR);
    expect(await first()).toMatchObject({ read_at: clock.now(), delivered_at: sentAt });
  });

  test('what the provider could not deliver has failed, and the next proved channel helps out, once', async () => {
    const ref = await told();
    await Promise.all([...nodes, ...nodes].map((node) => say(UNREACHABLE, ref, undefined, node)));
    await bench.pass(MINUTE);
    await say(UNREACHABLE, ref, undefined, nodes[1]);
    await bench.pass(MINUTE);
    expect(await log()).toEqual(['sms open failed undelivered', 'email open sent fallback']);
    expect(mails.kindsOf(EMAIL)).toEqual(['open']);
    const tries = await storage.db.selectFrom('message_attempts').selectAll().orderBy('at').orderBy('id').execute();
    const { id, subject } = await first();
    expect(subject).toContain('offline');
    expect(tries.filter(({ message_id: of }) => of === id)).toMatchObject([
      { outcome: 'sent', error: null, detail: null },
      { outcome: 'undelivered', error: 'undelivered', detail: UNREACHABLE.detail },
    ]);
    // A telephone that was switched off may be on again.
    expect(await contact('sms')).toMatchObject({ offReason: null });
    expect(bench.messages.outcomes.read().find(({ labels }) => labels.channel === 'sms' && labels.outcome === 'failed')).toBeDefined();
  });

  test('nothing that the provider says after it has given up changes that', async () => {
    const ref = await told();
    await say(UNREACHABLE, ref);
    await say('delivered', ref);
    await say('read', ref);
    await say(GONE, ref);
    expect(await first()).toMatchObject({ state: 'failed', reason: 'undelivered', delivered_at: null, read_at: null });
    expect(await contact('sms')).toMatchObject({ offReason: null });
  });

  test('a number that is gone is switched off, and an administrator hears of it', async () => {
    const ref = await told();
    await say(GONE, ref);
    await bench.pass(2 * MINUTE);
    expect(await contact('sms')).toMatchObject({ offReason: 'no_account' });
    expect((await log()).slice(0, 2)).toEqual(['sms open failed no_account', 'email open sent fallback']);
    expect(mails.mails.map(({ subject }) => subject).at(-1)).toContain('fail');
  });

  test('a number that was proved again after the sending stays on', async () => {
    const ref = await told();
    const { id } = await contact('sms');
    await bench.pass(HOUR);
    await storage.db.updateTable('contacts').set({ verified_at: clock.now() }).where('id', '=', id).execute();
    await say(GONE, ref);
    expect(await log()).toContain('sms open failed no_account');
    expect(await contact('sms')).toMatchObject({ offReason: null });
  });

  describe('no other channel helps out', () => {
    test('for the opening of what is over by then, but for its end', async () => {
      const opening = await told();
      await fault('resolve');
      await bench.pass(HOUR);
      expect(sms.kinds).toEqual(['open', 'resolve']);
      await say(UNREACHABLE, opening);
      await bench.pass(MINUTE);
      expect(mails.mails).toEqual([]);
      await say(UNREACHABLE, sms.refs[1]!);
      await bench.pass(MINUTE);
      expect(mails.kindsOf(EMAIL)).toEqual(['resolve']);
    });

    test('for what a newer message says, but for the newest', async () => {
      await facts.happen(facts.fault('open', mine.routerId, 'router_offline', 'critical'));
      await bench.pass(5 * HOUR);
      expect(sms.kinds).toEqual(['open', 'reminder']);
      await say(UNREACHABLE, sms.refs[0]!);
      await bench.pass(MINUTE);
      expect(mails.mails).toEqual([]);
      await say(UNREACHABLE, sms.refs[1]!);
      await bench.pass(MINUTE);
      expect(mails.kindsOf(EMAIL)).toEqual(['reminder']);
    });

    test('for a reminder of what somebody has taken over', async () => {
      await facts.happen(facts.fault('open', mine.routerId, 'router_offline', 'critical'));
      await bench.pass(5 * HOUR);
      const [thread] = await storage.db.selectFrom('threads').select('id').execute();
      await bench.threads.acknowledge(mine.teamId, { kind: 'user', id: ada }, thread!.id);
      await say(UNREACHABLE, sms.refs[1]!);
      await bench.pass(MINUTE);
      expect(mails.mails).toEqual([]);
    });

    test('for the opening when the end was withheld', async () => {
      const opening = await told();
      await storage.db.updateTable('threads').set({ state: 'ended', ended_at: clock.now(), closed_at: clock.now() }).execute();
      await say(UNREACHABLE, opening);
      await bench.pass(MINUTE);
      expect(mails.mails).toEqual([]);
    });

    test('when it did already after three failures', async () => {
      await proved('whatsapp');
      sms.answer = () => ({ outcome: 'retry', error: 'unavailable', detail: '' });
      await fault();
      await bench.pass(MINUTE);
      expect(await log()).toEqual(['sms open pending', 'email open sent fallback']);
      sms.answer = () => undefined;
      await bench.pass(HOUR);
      await say(UNREACHABLE, sms.refs[0]!);
      await bench.pass(MINUTE);
      expect(await log()).toEqual(['sms open failed undelivered', 'email open sent fallback']);
      expect(whatsapp.refs).toEqual([]);
    });

    test('for one that helped out itself', async () => {
      await proved('whatsapp');
      mails.answer = () => ({ outcome: 'never', error: 'refused', detail: '' });
      await made.contacts.change(owner(), { defaultChannel: 'email' });
      await fault();
      await bench.pass(MINUTE);
      expect(await log()).toEqual(['email open failed refused', 'sms open sent fallback']);
      await say(UNREACHABLE, sms.refs[0]!);
      await bench.pass(MINUTE);
      expect(await log()).toEqual(['email open failed refused', 'sms open failed undelivered']);
    });
  });

  test('a provider that is faster than our own record is heard a moment later', async () => {
    const ref = await told();
    await storage.db.updateTable('messages').set({ provider_ref: null }).execute();
    await say('delivered', ref, clock.now());
    await storage.db.updateTable('messages').set({ provider_ref: ref }).execute();
    const saidAt = clock.now();
    expect(await first()).toMatchObject({ delivered_at: null });
    clock.advance(5 * SECOND);
    // It awaits the second look.
    await bench.messages.stop();
    expect(await first()).toMatchObject({ delivered_at: saidAt });
  });

  test('unknown references, and those of another channel, change nothing', async () => {
    const ref = await told();
    await bench.messages.receive('whatsapp', [{ ref, says: GONE }]);
    await say(GONE, 'SMunknown');
    await bench.messages.receive('sms', []);
    expect(await log()).toEqual(['sms open sent']);
  });

  test('many at once are stored, each with its own message, and those of teams apart', async () => {
    const ref = await told();
    const other = await seedRouter(storage);
    const group = await followKinds(storage, other.teamId, ['fault.*']);
    await seedPerson(storage, other.teamId, 'eve@example.org', group);
    await new TeamsService({ storage, clock }).confirmEmail('eve@example.org');
    const strangers = new FaultFacts(storage, clock, bench, other.teamId);
    await strangers.happen(strangers.fault('open', other.routerId, 'router_offline', 'warning'));
    await bench.pass(MINUTE);
    const changed: string[] = [];
    bench.messages.changes.subscribe(({ teamId }) => changed.push(teamId));
    const unknown = Array.from({ length: 1500 }, (_, n): Receipt => ({ ref: `SM${n}`, says: 'delivered' }));
    await bench.messages.receive('sms', [...unknown, { ref, says: 'delivered' }, { ref, says: 'read' }]);
    expect(changed.every((teamId) => teamId === mine.teamId)).toBe(true);
    expect((await bench.log()).map(({ team_id: team, read_at: at }) => [team === mine.teamId, at !== null])).toEqual([
      [true, true],
      [false, false],
    ]);
  });

  test('a message is found by an index', async () => {
    await told();
    const message = await first();
    const rows = Array.from({ length: 20 }, (_, n) => ({ ...message, id: newId(START), provider_ref: `SM${n}` }));
    await storage.db.insertInto('messages').values(rows).execute();
    await learnSizes(storage);
    const [plan] = await plansOf(storage, (db) => selectByRef(db, 'sms', ['SM7', 'SM8']));
    expect(plan!.reads, plan!.text).toMatchObject([{ index: 'messages_by_ref' }]);
  });
});
