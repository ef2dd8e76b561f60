import { beforeEach, describe, expect, test } from 'vitest';
import { TeamsService } from '../../server/access/teams/service.ts';
import { serverOf } from '../../server/outbound/notifications/channels/bucket.ts';
import { NtfyChannel } from '../../server/outbound/notifications/channels/ntfy.ts';
import type { Channel } from '../../server/outbound/notifications/channels/types.ts';
import { WebhookChannel } from '../../server/outbound/notifications/channels/webhook.ts';
import { GroupsService } from '../../server/outbound/notifications/groups/service.ts';
import { ProvedAddresses } from '../../server/outbound/notifications/messages/addresses.ts';
import { selectDueMessages } from '../../server/outbound/notifications/messages/sending/store.ts';
import { readBudget } from '../../server/outbound/notifications/messages/writing/budget.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultFacts } from '../harness/fault-facts.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { makeAddresses } from '../harness/notification-addresses.ts';
import type { Addresses } from '../harness/notification-addresses.ts';
import { followKinds } from '../harness/notifications.ts';
import { NotifyBench, seedPerson } from '../harness/notify-bench.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.parse('2026-01-05T12:00:00Z');
const EMAIL = 'ada@example.org';
const CHAT = '4711';

describeEachDatabase('addresses of notifications', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let mine: SeededRouter;
  let made: Addresses;
  let bench: NotifyBench;
  let facts: FaultFacts;
  let group: string;
  let ada: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    mine = await seedRouter(storage);
    const ntfy = new NtfyChannel({ poster: { ask: () => Promise.reject(new Error('not used')) }, now: () => clock.now() });
    made = makeAddresses({ storage, clock, channels: { ntfy } });
    bench = new NotifyBench(storage, clock, new ProvedAddresses(made.groupAddresses, made.messageLinks));
    facts = new FaultFacts(storage, clock, bench, mine.teamId);
    group = await followKinds(storage, mine.teamId, ['fault.*']);
    ada = await seedPerson(storage, mine.teamId, EMAIL, group);
    await new TeamsService({ storage, clock }).confirmEmail(EMAIL);
  });

  const owner = () => ({ teamId: mine.teamId, userId: ada });
  async function chat(): Promise<string> {
    const { id } = await made.contacts.add(owner(), 'telegram', { address: CHAT });
    await storage.db.updateTable('contacts').set({ verified_at: 1 }).where('id', '=', id).execute();
    return id;
  }
  async function target(chatId = '-100'): Promise<string> {
    const { id } = await made.targets.create(mine.teamId, { name: `Chat ${chatId}`, channel: 'telegram', address: { chat_id: chatId } });
    await storage.db.updateTable('notification_targets').set({ verified_at: 1 }).where('id', '=', id).execute();
    await new GroupsService({ storage, clock }).change(mine.teamId, group, { targets: [id] });
    return id;
  }
  const fault = (type = 'router_offline', phase: 'open' | 'resolve' = 'open'): Promise<void> =>
    facts.happen(facts.fault(phase, mine.routerId, type, 'warning'));
  const log = async () =>
    (await bench.log()).map(({ channel, kind, state, reason }) => `${channel} ${kind} ${state}${reason === null ? '' : ` ${reason}`}`);

  describe('one that nothing arrives at any more', () => {
    test('is switched off, and an administrator hears of it once, by another channel', async () => {
      await chat();
      bench.server.answer = (_message, to) =>
        to === EMAIL ? { outcome: 'never', error: 'refused', detail: '550 no such user', addressOff: 'bounced' } : { outcome: 'sent' };
      await fault();
      await bench.pass(MINUTE);
      // The next look finds what the sender has written.
      await bench.pass(MINUTE);
      const account = (await made.contacts.person(owner())).contacts.find(({ channel }) => channel === 'email');
      expect(account).toMatchObject({ offReason: 'bounced', offAt: expect.any(Number) });
      const told = bench.server.mails.map(({ to, subject }) => `${to} ${subject}`);
      expect(told).toHaveLength(2);
      expect(told[0]).toContain(`${CHAT} MikroTik: offline`);
      expect(told[1]).toContain(`${CHAT} Team`);
      expect(told[1]).toMatch(/messages to ada@\u2060?example\.\u2060?org \(email, .+\) fail/);
      await fault('high_cpu');
      await bench.pass(MINUTE);
      expect(await log()).toEqual([
        'email open failed bounced',
        'telegram open sent fallback',
        'telegram open sent',
        'email open withheld off',
      ]);
    });

    test('of the team: the target is off, and an administrator hears of it', async () => {
      const id = await target();
      bench.server.answer = (_message, to) =>
        to === EMAIL ? { outcome: 'sent' } : { outcome: 'never', error: 'gone', detail: 'the bot was blocked', addressOff: 'blocked' };
      await fault();
      await bench.pass(MINUTE);
      await bench.pass(MINUTE);
      expect(await made.targets.get(mine.teamId, id)).toMatchObject({ offReason: 'blocked' });
      expect(bench.server.kindsOf(EMAIL)).toEqual(['open', 'open']);
      expect(bench.server.mails.at(-1)!.subject).toMatch(/messages to Chat -100 \(Telegram, .+\) fail/);
    });

    test('one that cannot be decrypted ends its message at once, with the reason', async () => {
      const id = await chat();
      await new GroupsService({ storage, clock }).change(mine.teamId, group, {
        recipients: [],
        notifiables: [{ id: ada, channel: 'telegram' }],
      });
      await storage.db.updateTable('contacts').set({ address: 'of a key that is gone' }).where('id', '=', id).execute();
      await fault();
      await bench.pass(MINUTE);
      expect(await log()).toEqual(['telegram open withheld unreadable']);
      expect(await storage.db.selectFrom('messages').select(['claim', 'due_at']).execute()).toEqual([{ claim: null, due_at: null }]);
    });

    test('is not switched off by an error that concerns one message', async () => {
      bench.server.answer = () => ({ outcome: 'never', error: 'too_large', detail: '' });
      await fault();
      await bench.pass(MINUTE);
      expect(await log()).toEqual(['email open failed too_large']);
      expect((await made.contacts.person(owner())).contacts[0]).toMatchObject({ offReason: null });
    });
  });

  test('a chat that has a new number is followed there, and stays proved', async () => {
    const [contact, id] = [await chat(), await target()];
    await new GroupsService({ storage, clock }).change(mine.teamId, group, {
      recipients: [],
      notifiables: [{ id: ada, channel: 'telegram' }],
    });
    bench.server.answer = (_message, to) => ({
      outcome: 'sent',
      ...(to === '-100' ? { movedTo: '-200' } : to === CHAT ? { movedTo: '4712' } : {}),
    });
    await fault();
    await bench.pass(MINUTE);
    expect(await made.targets.open(await made.targets.get(mine.teamId, id))).toMatchObject({ chatId: '-200' });
    const moved = (await made.contacts.listOwn(owner())).find((own) => own.contact.id === contact);
    expect(moved).toMatchObject({ address: { chatId: '4712' }, contact: { verifiedAt: 1 } });
    await fault('high_cpu');
    await bench.pass(MINUTE);
    expect(bench.server.mails.map(({ to }) => to).toSorted()).toEqual(['-100', '-200', CHAT, '4712'].toSorted());
  });

  describe('one that fails', () => {
    const down = () => {
      bench.server.answer = (_message, to) => (to === EMAIL ? { outcome: 'retry', error: 'unavailable', detail: '' } : { outcome: 'sent' });
    };

    test("is helped out by the person's next channel after three failures, once", async () => {
      await chat();
      down();
      await fault();
      await bench.pass(15_000);
      expect(bench.server.kindsOf(CHAT)).toEqual([]);
      await bench.pass(HOUR);
      expect(bench.server.kindsOf(CHAT)).toEqual(['open']);
      expect(await log()).toEqual(['email open pending', 'telegram open sent fallback']);
    });

    test('waits for the line of this server when all channels fail: no attempt counts, and all comes when it is back', async () => {
      await chat();
      await target();
      const asked: string[] = [];
      bench.server.answer = (_message, to) => {
        asked.push(to);
        return { outcome: 'retry', error: 'connect_failed', detail: '' };
      };
      await fault();
      await bench.pass(12 * MINUTE);
      expect(await log()).toEqual(['email open pending', 'telegram open pending']);
      // One message each half minute tries each provider.
      expect(asked.length).toBeLessThanOrEqual(2 * (2 * 12 + 2));
      expect((await bench.log()).map(({ attempts }) => attempts).every((attempts) => attempts <= 1)).toBe(true);
      bench.server.answer = () => ({ outcome: 'sent' });
      await bench.pass(MINUTE);
      expect(await log()).toEqual(['email open sent', 'telegram open sent']);
    });

    test('but by none that is not proved, or by a person who has left the group', async () => {
      await made.contacts.add(owner(), 'telegram', { address: CHAT });
      down();
      await fault();
      await bench.pass(HOUR);
      expect(await log()).toEqual(['email open pending']);
    });
  });

  describe('of people who get very many messages', () => {
    beforeEach(async () => {
      await chat();
      await new GroupsService({ storage, clock }).change(mine.teamId, group, {
        recipients: [],
        notifiables: [{ id: ada, channel: 'telegram' }],
      });
    });
    async function many(count: number): Promise<void> {
      for (let n = 0; n < count; n += 1) {
        const { routerId } = await seedRouter(storage, { teamId: mine.teamId });
        await facts.happen(facts.fault('open', routerId, 'high_cpu', 'warning'));
        await bench.pass(20_000);
      }
    }

    test('get 30 an hour, one that says how many more there are, and 30 in the next', async () => {
      await many(40);
      await bench.pass(2 * MINUTE);
      const texts = bench.server.mails.map(({ subject }) => subject);
      expect(texts).toHaveLength(31);
      expect(texts.at(-1)).toMatch(/more messages? not sent/);
      const reasons = (await bench.log()).filter(({ reason }) => reason === 'budget');
      expect(reasons).toHaveLength(10);
      await bench.pass(HOUR);
      // It counted what had come by then; the next one counts the rest, and not before an hour.
      expect(bench.server.mails.length).toBeLessThanOrEqual(32);
      await many(5);
      expect(bench.server.mails.slice(-5).every(({ subject }) => subject.includes('high CPU load'))).toBe(true);
    });

    test('at night: one note waits for the morning, and counts all of them', async () => {
      await made.contacts.change(owner(), { timeZone: 'UTC', quiet: { from: 12 * 60, to: 20 * 60, criticalBreaksThrough: true } });
      await many(40);
      await bench.pass(2 * HOUR);
      await many(40);
      const notes = async () => (await bench.log()).filter(({ kind }) => kind === 'held_back').map(({ state }) => state);
      expect(await notes()).toEqual(['held']);
      await bench.pass(10 * HOUR);
      expect(await notes()).toEqual(['sent']);
      const texts = bench.server.mails.map(({ subject }) => subject).filter((subject) => subject.includes('not sent'));
      const withheld = (await bench.log()).filter(({ reason }) => reason === 'budget');
      expect(texts).toEqual([expect.stringContaining(`${withheld.length} more`)]);
    });

    test('a note that nothing is left for says nothing', async () => {
      await many(31);
      await bench.pass(2 * MINUTE);
      const [note] = (await bench.log()).filter(({ kind }) => kind === 'held_back');
      expect(note).toMatchObject({ state: 'sent' });
      const again = { ...note!, id: newId(clock.now()), state: 'pending', due_at: clock.now(), settled_at: null, provider_ref: null };
      await storage.db.insertInto('messages').values(again).execute();
      const before = bench.server.mails.length;
      await bench.settle();
      expect(bench.server.mails).toHaveLength(before);
      expect((await bench.log()).filter(({ kind }) => kind === 'held_back').map(({ state }) => state)).toEqual(['sent', 'superseded']);
    });

    test('what helps out for a channel that fails is spent from its budget', async () => {
      await new GroupsService({ storage, clock }).change(mine.teamId, group, { recipients: [ada], notifiables: [] });
      bench.server.answer = (_message, to) => (to === CHAT ? { outcome: 'sent' } : { outcome: 'never', error: 'refused', detail: '' });
      await many(40);
      await bench.pass(2 * MINUTE);
      const chats = bench.server.mails.filter(({ to }) => to === CHAT);
      expect(chats).toHaveLength(31);
      expect((await bench.log()).filter(({ channel, reason }) => channel === 'telegram' && reason === 'budget')).toHaveLength(10);
    });

    test('several browsers of a person get a message together, and it counts once', async () => {
      const planned = [1, 2, 3].map((n) => ({ recipient: { type: 'person' as const, id: ada, channel: 'web_push' }, reason: null, n }));
      const thread = await (async () => {
        await facts.happen(facts.fault('open', mine.routerId));
        await bench.pass(MINUTE);
        return (await bench.log())[0]!;
      })();
      const rows = (revision: number) =>
        planned.map(({ n }) => ({
          ...thread,
          id: newId(clock.now()),
          channel: 'web_push',
          address_id: `browser ${n}`,
          revision,
          state: 'pending',
          due_at: clock.now(),
          created_at: clock.now(),
        }));
      for (let revision = 101; revision <= 120; revision += 1)
        await storage.db
          .insertInto('messages')
          .values(rows(revision).map((row) => ({ ...row, state: 'sent', due_at: null })))
          .execute();
      const budget = await readBudget(storage.db, mine.teamId, planned, clock.now());
      const states = [];
      for (let revision = 201; revision <= 210; revision += 1)
        states.push(...budget.apply(rows(revision)).map(({ state, kind }) => `${kind} ${state}`));
      // Of 30, the first one and 20 are spent.
      expect(states.slice(0, 27)).toEqual(Array.from({ length: 27 }, () => 'open pending'));
      expect(states.slice(27)).toEqual(['open withheld', 'held_back pending', 'open withheld', 'open withheld']);
    });

    test('mail has no such limit', async () => {
      await new GroupsService({ storage, clock }).change(mine.teamId, group, { recipients: [ada], notifiables: [] });
      await many(35);
      expect(bench.server.mails).toHaveLength(35);
    });
  });

  test('a webhook that asks for a pause holds up no other of its host', async () => {
    const receiver = new WebhookChannel({ poster: { ask: () => Promise.reject(new Error('not used')) }, now: () => clock.now() });
    const posted: string[] = [];
    const webhook: Channel<'webhook'> = {
      name: 'webhook',
      limits: receiver.limits,
      bucketOf: (address) => receiver.bucketOf(address),
      send: (_message, { url }) => {
        posted.push(url);
        const isBusy = url.endsWith('/busy');
        return Promise.resolve(
          isBusy ? { outcome: 'retry', error: 'rate_limited', detail: '', retryAfterMs: 24 * HOUR } : { outcome: 'sent' },
        );
      },
    };
    made = makeAddresses({ storage, clock, channels: { webhook } });
    bench = new NotifyBench(storage, clock, new ProvedAddresses(made.groupAddresses, made.messageLinks), undefined, {
      email: bench.server,
      webhook,
    });
    facts = new FaultFacts(storage, clock, bench, mine.teamId);
    const targets: string[] = [];
    for (const name of ['busy', 'free']) {
      const address = { url: `https://hooks.example.org/${name}` };
      targets.push((await made.targets.create(mine.teamId, { name, channel: 'webhook', address })).id);
    }
    await storage.db.updateTable('notification_targets').set({ verified_at: 1 }).execute();
    await new GroupsService({ storage, clock }).change(mine.teamId, group, { recipients: [], targets });
    await fault();
    await bench.pass(MINUTE);
    await fault('wan_down');
    await bench.pass(MINUTE);
    expect(posted.toSorted()).toEqual([
      'https://hooks.example.org/busy',
      'https://hooks.example.org/free',
      'https://hooks.example.org/free',
    ]);
  });

  test('to one server go as many messages at once as to one address', async () => {
    await chat();
    await fault();
    await bench.pass(MINUTE);
    const buckets = [
      'webhook:https://a.example#1',
      'webhook:https://a.example#2',
      'webhook:https://a.example',
      'webhook:https://a.example.org#1',
    ];
    const [row] = await bench.log();
    const due = { state: 'pending', due_at: clock.now(), reason: null };
    await storage.db.deleteFrom('messages').execute();
    const rows = buckets.map((bucket, n) => ({
      ...row!,
      ...due,
      id: newId(clock.now()),
      recipient_id: `r${n}`,
      bucket: `${mine.teamId} ${bucket}`,
    }));
    await storage.db.insertInto('messages').values(rows).execute();
    const ask = { teamId: mine.teamId, now: clock.now(), limit: 10 };
    const freeOf = async (...busy: string[]) =>
      (await selectDueMessages(storage.db, { ...ask, busyServers: busy.map((server) => `${mine.teamId} ${server}`) })).map(({ bucket }) =>
        bucket.slice(mine.teamId.length + 1),
      );
    expect(await freeOf()).toHaveLength(4);
    expect(await freeOf('webhook:https://a.example')).toEqual(['webhook:https://a.example.org#1']);
    expect(await freeOf('webhook:https://a.example', 'webhook:https://a.example.org')).toEqual([]);
    expect(buckets.map(serverOf)).toEqual([
      ...Array.from({ length: 3 }, () => 'webhook:https://a.example'),
      'webhook:https://a.example.org',
    ]);
  });

  test('messages to one server share a rate, of the team alone', async () => {
    const ids: string[] = [];
    for (const topic of ['one', 'two']) {
      const address = { url: 'https://ntfy.example.org', topic };
      ids.push((await made.targets.create(mine.teamId, { name: topic, channel: 'ntfy', address })).id);
    }
    await storage.db.updateTable('notification_targets').set({ verified_at: 1 }).execute();
    const book = new ProvedAddresses(made.groupAddresses, made.messageLinks);
    const occasion = { group: { id: group, recipients: [ada], notifiables: [], targets: ids }, topicIds: [] };
    const [plan] = await book.plan(storage.db, mine.teamId, [occasion]);
    expect(plan!.map(({ bucket }) => bucket)).toEqual(['email', ...ids.map(() => `${mine.teamId} ntfy:ntfy.example.org`)]);
  });
});
