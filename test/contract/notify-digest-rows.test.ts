import { beforeEach, describe, expect, test, vi } from 'vitest';
import { TeamsService } from '../../server/access/teams/service.ts';
import { GroupsService } from '../../server/outbound/notifications/groups/service.ts';
import { ProvedAddresses } from '../../server/outbound/notifications/messages/addresses.ts';
import { selectDigestReaders, selectWaiting } from '../../server/outbound/notifications/messages/digests/store.ts';
import { selectDigestedThreads } from '../../server/outbound/notifications/messages/view/store.ts';
import type { Text } from '../../server/outbound/notifications/texts/types.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultFacts } from '../harness/fault-facts.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { makeAddresses } from '../harness/notification-addresses.ts';
import type { Addresses } from '../harness/notification-addresses.ts';
import { followKinds } from '../harness/notifications.ts';
import { NotifyBench } from '../harness/notify-bench.ts';
import { learnSizes, plansOf } from '../harness/plans.ts';
import { seedRouter } from '../harness/seed.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.parse('2026-01-05T12:00:00Z');
const ADA = 'ada@example.org';
const BOB = 'bob@example.org';

describeEachDatabase('what waits for digests', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let bench: NotifyBench;
  let made: Addresses;
  let book: ProvedAddresses;
  let groups: GroupsService;
  let facts: FaultFacts;
  let teamId: string;
  let routerId: string;
  let ada: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    ({ teamId, routerId } = await seedRouter(storage));
    made = makeAddresses({ storage, clock });
    book = new ProvedAddresses(made.groupAddresses, made.messageLinks);
    bench = new NotifyBench(storage, clock, book);
    groups = new GroupsService({ storage, clock });
    facts = new FaultFacts(storage, clock, bench, teamId);
    ada = await reader(ADA);
  });

  /** Somebody who reads reboots and high load every hour. */
  async function reader(email: string): Promise<string> {
    const teams = new TeamsService({ storage, clock });
    const { userId } = (await teams.createUser({ teamId, email, role: 'operator' })).member;
    await teams.confirmEmail(email);
    await made.contacts.change({ teamId, userId }, { digest: { every: 'hourly', kinds: ['fault.high_cpu'] } });
    return userId;
  }

  async function groupOf(kinds: string[], recipients: string[] = [ada]): Promise<string> {
    const id = await followKinds(storage, teamId, kinds, clock.now());
    await groups.change(teamId, id, { recipients });
    return id;
  }

  const happen = async (kind: 'rebooted' | 'config_changed'): Promise<void> => {
    await bench.facts([
      {
        teamId,
        kind: `fault.${kind}`,
        phase: 'info',
        severity: 'info',
        key: `router:${routerId}:${kind}`,
        recordId: newId(clock.now()),
        version: 1,
        routerId,
        at: clock.now(),
      },
    ]);
    await bench.pass(MINUTE);
  };
  const digests = (to = ADA): string[] =>
    bench.server.mails.filter((mail) => mail.to === to).map(({ kind, subject }) => `${kind} ${subject}`);

  test('a digest lists what was told by a group that is gone by now', async () => {
    const first = await groupOf(['fault.high_cpu'], []);
    const second = await groupOf([]);
    await groups.change(teamId, first, { escalateTo: second, escalateAfterMinutes: 5 });
    await facts.happen(facts.fault('open', routerId, 'high_cpu', 'warning'));
    await bench.pass(10 * MINUTE);
    expect(bench.server.kindsOf(ADA)).toEqual(['escalation']);
    await facts.happen(facts.fault('resolve', routerId, 'high_cpu', 'warning'));
    await bench.pass(MINUTE);
    await groups.delete(teamId, second);
    await bench.pass(HOUR);
    expect(bench.server.kindsOf(ADA)).toEqual(['escalation', 'digest']);
  });

  test('what several groups told of one fact stands in a digest once', async () => {
    await groupOf(['fault.high_cpu']);
    await groupOf(['fault.high_cpu', 'fault.voltage']);
    await facts.happen(facts.fault('open', routerId, 'high_cpu', 'warning'));
    await bench.pass(HOUR);
    expect(digests()).toEqual([expect.stringMatching(/1 event/)]);
  });

  test('a digest that cannot be made does not keep the others waiting, and is made later', async () => {
    const people = [ada, await reader(BOB)];
    await groupOf(['*'], people);
    for (const broken of people) {
      const address = broken === ada ? ADA : BOB;
      const other = broken === ada ? BOB : ADA;
      const plan = book.plan.bind(book);
      let failures = 0;
      book.plan = async (tx, team, occasions) => {
        const isDigest = occasions[0]?.group.id === '';
        if (!isDigest || occasions[0]?.group.recipients[0] !== broken) return plan(tx, team, occasions);
        failures += 1;
        throw new Error('broken');
      };
      bench.server.mails.length = 0;
      await happen('rebooted');
      await bench.pass(HOUR);
      expect(failures).toBeGreaterThan(0);
      expect(digests(other)).toEqual([expect.stringContaining('1 event')]);
      expect(digests(address)).toEqual([]);
      book.plan = plan;
      await bench.pass(MINUTE);
      expect(digests(address)).toEqual([expect.stringContaining('1 event')]);
    }
  });

  describe('of 300 threads', () => {
    beforeEach(async () => {
      await groupOf(['*']);
      await happen('rebooted');
      const thread = await storage.db.selectFrom('threads').selectAll().executeTakeFirstOrThrow();
      const [message] = await bench.log();
      const ids = Array.from({ length: 299 }, (_, n) => newId(START + n));
      const threads = ids.map((id, n) => ({ ...thread, id, key: `router:${n}:rebooted`, first_at: thread.first_at + n }));
      await storage.db.insertInto('threads').values(threads).execute();
      await storage.db
        .insertInto('messages')
        .values(ids.map((id, n) => ({ ...message!, id: newId(START + n), thread_id: id })))
        .execute();
    });

    test('only those that it lists are read, and the others are counted', async () => {
      const texts: Text[] = [];
      bench.server.answer = ({ text }) => {
        texts.push(text);
        return { outcome: 'sent' };
      };
      let threads = 0;
      const counting = storage.db.withPlugin({
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => {
          threads += result.rows.filter((row) => 'flush_at' in row).length;
          return result;
        },
      });
      bench.restart({ ...storage, db: counting });
      await bench.pass(HOUR);
      expect(digests()).toEqual([expect.stringContaining('300 events')]);
      expect(texts[0]!.rows).toHaveLength(10);
      expect(texts[0]!.rowCount).toBe(300);
      expect(threads).toBeLessThan(30);
    });

    test('each statement finds by an index what it needs', async () => {
      const before = { now: clock.now() + HOUR, since: START };
      await learnSizes(storage);
      const indexesOf = async (run: Parameters<typeof plansOf>[1]): Promise<unknown[]> =>
        (await plansOf(storage, run)).flatMap(({ reads }) => reads.filter(({ table }) => table === 'messages').map(({ index }) => index));
      const byDigest = expect.stringMatching(/^messages_(for|next)_digest$/) as unknown;
      const ofPeople = await indexesOf((db) => selectDigestReaders(db, teamId, before));
      expect(ofPeople).toContainEqual(byDigest);
      expect(ofPeople).not.toContain(null);
      expect(await indexesOf((db) => selectWaiting(db, teamId, ada, before.now))).toEqual([byDigest]);
      bench.server.answer = () => ({ outcome: 'retry', error: 'unavailable', detail: '' });
      await bench.pass(HOUR);
      await learnSizes(storage);
      const [digest] = (await bench.log()).filter(({ kind }) => kind === 'digest');
      expect(await indexesOf((db) => selectDigestedThreads(db, teamId, [digest!.thread_id], 10))).toEqual(['messages_in_digest']);
    });
  });

  describe('of a group that is deleted', () => {
    let first: string;

    beforeEach(async () => {
      first = await groupOf(['fault.rebooted']);
      await groupOf(['fault.config_changed']);
      await happen('rebooted');
      await happen('config_changed');
    });

    test('a digest that waits says what it told, too', async () => {
      bench.server.answer = () => ({ outcome: 'retry', error: 'unavailable', detail: '' });
      await bench.pass(HOUR);
      expect(bench.server.asked.length).toBeGreaterThan(0);
      await groups.delete(teamId, first);
      bench.server.answer = () => ({ outcome: 'sent' });
      await bench.pass(10 * MINUTE);
      expect(digests()).toEqual([expect.stringMatching(/2 events/)]);
      await bench.pass(2 * HOUR);
      expect(digests()).toHaveLength(1);
    });

    test('what has come by digest does not come again', async () => {
      await bench.pass(HOUR);
      expect(digests()).toEqual([expect.stringMatching(/2 events/)]);
      await groups.delete(teamId, first);
      await bench.pass(2 * HOUR);
      expect(digests()).toHaveLength(1);
    });

    test.each(['sent', 'unavailable'] as const)('a digest whose attempt goes on meanwhile and is %s comes once', async (outcome) => {
      const send = bench.server.send.bind(bench.server);
      vi.spyOn(bench.server, 'send').mockImplementationOnce(async (message, ...rest) => {
        await groups.delete(teamId, first);
        return outcome === 'sent' ? send(message, ...rest) : { outcome: 'retry', error: outcome, detail: '' };
      });
      await bench.pass(3 * HOUR);
      expect(digests()).toEqual([expect.stringMatching(/2 events/)]);
      expect((await bench.log()).filter(({ kind }) => kind === 'digest').map(({ state }) => state)).toEqual(['sent']);
    });

    test('nothing of another team goes back', async () => {
      const other = await seedRouter(storage);
      bench.server.answer = () => ({ outcome: 'retry', error: 'unavailable', detail: '' });
      await bench.pass(HOUR);
      await expect(groups.delete(other.teamId, first)).rejects.toMatchObject({ code: 'not_found' });
      expect((await bench.log()).filter(({ digest_at: at }) => at !== null)).toEqual([]);
    });
  });
});
