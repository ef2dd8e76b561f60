import { beforeEach, describe, expect, test } from 'vitest';
import { TeamsService } from '../../server/access/teams/service.ts';
import { GroupsService } from '../../server/outbound/notifications/groups/service.ts';
import { ProvedAddresses } from '../../server/outbound/notifications/messages/addresses.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultFacts } from '../harness/fault-facts.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { makeAddresses } from '../harness/notification-addresses.ts';
import type { Addresses } from '../harness/notification-addresses.ts';
import { followKinds } from '../harness/notifications.ts';
import { NotifyBench } from '../harness/notify-bench.ts';
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

  describe('of a group that is deleted', () => {
    let first: string;

    beforeEach(async () => {
      first = await groupOf(['fault.rebooted']);
      await groupOf(['fault.config_changed']);
      await happen('rebooted');
      await happen('config_changed');
    });

    test('a digest that waits leaves what other groups told to the next one', async () => {
      bench.server.answer = () => ({ outcome: 'retry', error: 'unavailable', detail: '' });
      await bench.pass(HOUR);
      expect(bench.server.asked.length).toBeGreaterThan(0);
      await groups.delete(teamId, first);
      bench.server.answer = () => ({ outcome: 'sent' });
      await bench.pass(MINUTE);
      expect(digests()).toEqual([expect.stringMatching(/1 event/)]);
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

    test('nothing of another team goes back', async () => {
      const other = await seedRouter(storage);
      bench.server.answer = () => ({ outcome: 'retry', error: 'unavailable', detail: '' });
      await bench.pass(HOUR);
      await expect(groups.delete(other.teamId, first)).rejects.toMatchObject({ code: 'not_found' });
      expect((await bench.log()).filter(({ digest_at: at }) => at !== null)).toEqual([]);
    });
  });
});
