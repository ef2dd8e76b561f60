import { beforeEach, describe, expect, test } from 'vitest';
import { GroupsService } from '../../server/outbound/notifications/groups/service.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultFacts } from '../harness/fault-facts.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { followKinds } from '../harness/notifications.ts';
import { NotifyBench, seedPerson } from '../harness/notify-bench.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.parse('2026-01-05T12:00:00Z');

/** Addresses are no links: they have word joiners. */
const plain = (text: string): string => text.replaceAll('\u2060', '');

describeEachDatabase('acknowledging', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let mine: SeededRouter;
  let group: string;
  let bench: NotifyBench;
  let facts: FaultFacts;
  let ada: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    mine = await seedRouter(storage);
    group = await followKinds(storage, mine.teamId, ['*']);
    bench = new NotifyBench(storage, clock);
    facts = new FaultFacts(storage, clock, bench, mine.teamId);
    ada = await seedPerson(storage, mine.teamId, 'ada@example.net', group);
    await seedPerson(storage, mine.teamId, 'bob@example.net', group);
  });

  const happen = async (phase: 'open' | 'resolve'): Promise<void> => facts.happen(facts.fault(phase, mine.routerId));
  const threadId = async (): Promise<string> => (await storage.db.selectFrom('threads').select('id').executeTakeFirstOrThrow()).id;
  const acknowledge = async (by = ada, until: number | null = null) =>
    bench.threads.acknowledge(mine.teamId, { kind: 'user', id: by }, await threadId(), until);

  test('the others hear who has taken it over, nobody is reminded any more, and the end is told', async () => {
    await happen('open');
    await bench.pass(MINUTE);
    await acknowledge();
    await bench.pass(20 * HOUR);
    expect(bench.server.kindsOf('ada@example.net')).toEqual(['open']);
    expect(bench.server.kindsOf('bob@example.net')).toEqual(['open', 'acknowledged']);
    expect(plain(bench.server.mails.at(-1)!.subject)).toContain('ada@example.net has taken this over');
    await happen('resolve');
    await bench.pass(MINUTE);
    expect(bench.server.kindsOf('ada@example.net')).toEqual(['open', 'resolve']);
    expect(bench.server.kindsOf('bob@example.net')).toEqual(['open', 'acknowledged', 'resolve']);
  });

  test('repeating it tells nobody again; somebody else may take it over', async () => {
    await happen('open');
    await bench.pass(MINUTE);
    await acknowledge();
    await acknowledge();
    await bench.pass(MINUTE);
    expect(bench.server.kindsOf('bob@example.net')).toEqual(['open', 'acknowledged']);
    const eve = await seedPerson(storage, mine.teamId, 'eve@example.net');
    await acknowledge(eve);
    await bench.pass(MINUTE);
    expect(bench.server.kindsOf('bob@example.net')).toEqual(['open', 'acknowledged', 'acknowledged']);
    expect(plain(bench.server.mails.at(-1)!.subject)).toContain('eve@example.net');
  });

  test('with a time, it is told again then, and every 4 hours', async () => {
    await happen('open');
    await bench.pass(MINUTE);
    await acknowledge(ada, clock.now() + 2 * HOUR);
    await bench.pass(2 * HOUR - MINUTE);
    expect(bench.server.kindsOf('ada@example.net')).toEqual(['open']);
    await bench.pass(2 * MINUTE);
    expect(bench.server.kindsOf('ada@example.net')).toEqual(['open', 'reminder']);
    await bench.pass(4 * HOUR);
    expect(bench.server.kindsOf('ada@example.net')).toEqual(['open', 'reminder', 'reminder']);
  });

  test('a reminder that waits for a mail server is not sent any more', async () => {
    await happen('open');
    await bench.pass(MINUTE);
    bench.server.answer = () => ({ outcome: 'retry', error: 'unavailable', detail: '' });
    await bench.pass(4 * HOUR);
    await acknowledge();
    bench.server.answer = () => ({ outcome: 'sent' });
    await bench.pass(HOUR);
    expect(bench.server.mails.map(({ kind }) => kind)).toEqual(['open', 'open', 'acknowledged']);
    const reminders = (await bench.log()).filter(({ kind }) => kind === 'reminder');
    expect(reminders.map(({ state, reason }) => [state, reason])).toEqual([
      ['withheld', 'acknowledged'],
      ['withheld', 'acknowledged'],
    ]);
  });

  test('what is over, in the past, or of another team is refused', async () => {
    await happen('open');
    await bench.pass(MINUTE);
    await expect(acknowledge(ada, clock.now())).rejects.toMatchObject({ code: 'invalid' });
    const other = await seedRouter(storage);
    const taker = { kind: 'user', id: ada } as const;
    await expect(bench.threads.acknowledge(other.teamId, taker, await threadId())).rejects.toMatchObject({ code: 'not_found' });
    await expect(bench.threads.acknowledge(mine.teamId, taker, newId(START))).rejects.toMatchObject({ code: 'not_found' });
    await happen('resolve');
    await bench.pass(MINUTE);
    await expect(acknowledge()).rejects.toMatchObject({ code: 'conflict' });
  });
  describe('escalation', () => {
    const names = async (...each: string[]): Promise<string[]> => {
      const groups = [];
      for (const name of each) {
        const id = await followKinds(storage, mine.teamId, []);
        await seedPerson(storage, mine.teamId, `${name}@example.net`, id);
        groups.push(id);
      }
      return groups;
    };
    const chain = (from: string, to: string, minutes: number): Promise<unknown> =>
      new GroupsService({ storage, clock }).change(mine.teamId, from, { escalateTo: to, escalateAfterMinutes: minutes });

    test('unacknowledged, the next group is told after its time, and the next after that; all hear the end', async () => {
      const [second, third] = await names('carol', 'dan');
      await chain(group, second!, 10);
      await chain(second!, third!, 20);
      await happen('open');
      await bench.pass(9 * MINUTE);
      expect(bench.server.kindsOf('carol@example.net')).toEqual([]);
      await bench.pass(2 * MINUTE);
      expect(bench.server.kindsOf('carol@example.net')).toEqual(['escalation']);
      expect(bench.server.mails.at(-1)!.subject).toContain('Not taken over');
      await bench.pass(18 * MINUTE);
      expect(bench.server.kindsOf('dan@example.net')).toEqual([]);
      await bench.pass(2 * MINUTE);
      expect(bench.server.kindsOf('dan@example.net')).toEqual(['escalation']);
      bench.restart();
      await bench.pass(4 * HOUR);
      await happen('resolve');
      await bench.pass(HOUR);
      for (const [name, of] of [
        ['carol', second],
        ['dan', third],
      ] as const) {
        expect(bench.server.kindsOf(`${name}@example.net`), name).toEqual(['escalation', 'reminder', 'resolve']);
        // Groups are called by their ids here.
        const reasons = bench.server.mails.filter(({ to }) => to === `${name}@example.net`).map(({ reason }) => reason);
        expect(reasons, name).toEqual(Array.from({ length: 3 }, () => expect.stringContaining(`the notification group ${of} of the team`)));
      }
      expect(bench.server.kindsOf('ada@example.net')).toEqual(['open', 'reminder', 'resolve']);
    });

    test('whoever takes it over stops it; those who were told hear who', async () => {
      const [second, third] = await names('carol', 'dan');
      await chain(group, second!, 10);
      await chain(second!, third!, 20);
      await happen('open');
      await bench.pass(11 * MINUTE);
      await acknowledge();
      await bench.pass(20 * HOUR);
      expect(bench.server.kindsOf('carol@example.net')).toEqual(['escalation', 'acknowledged']);
      expect(bench.server.kindsOf('dan@example.net')).toEqual([]);
    });

    test('what is over in time is not escalated, and what opens again begins anew', async () => {
      const [second] = await names('carol');
      await chain(group, second!, 10);
      await happen('open');
      await bench.pass(5 * MINUTE);
      await happen('resolve');
      await bench.pass(2 * HOUR);
      expect(bench.server.kindsOf('carol@example.net')).toEqual([]);
      await happen('open');
      await bench.pass(11 * MINUTE);
      expect(bench.server.kindsOf('carol@example.net')).toEqual(['escalation']);
    });

    test('whoever is in both groups hears once that somebody else has taken it over', async () => {
      const [second] = await names('carol');
      await chain(group, second!, 10);
      const { id } = await storage.db.selectFrom('users').select('id').where('email', '=', 'bob@example.net').executeTakeFirstOrThrow();
      await storage.db
        .insertInto('group_recipients')
        .values({ team_id: mine.teamId, group_id: second!, user_id: id, position: 9 })
        .execute();
      await happen('open');
      await bench.pass(11 * MINUTE);
      expect(bench.server.kindsOf('bob@example.net')).toEqual(['open', 'escalation']);
      await acknowledge();
      await bench.pass(MINUTE);
      expect(bench.server.kindsOf('bob@example.net')).toEqual(['open', 'escalation', 'acknowledged']);
    });

    test('a group that is muted is passed over, with its reason', async () => {
      const [second, third] = await names('carol', 'dan');
      await chain(group, second!, 10);
      await chain(second!, third!, 20);
      await new GroupsService({ storage, clock }).change(mine.teamId, second!, { mute: 'always' });
      await happen('open');
      await bench.pass(11 * MINUTE);
      expect(bench.server.kindsOf('dan@example.net')).toEqual(['escalation']);
      const [carol] = (await bench.log()).filter(({ group_id: id }) => id === second);
      expect(carol).toMatchObject({ kind: 'escalation', state: 'withheld', reason: 'muted' });
      await happen('resolve');
      await bench.pass(HOUR);
      expect(bench.server.kindsOf('carol@example.net')).toEqual([]);
      expect(bench.server.kindsOf('dan@example.net')).toEqual(['escalation', 'resolve']);
    });

    test('what remains of a storm has its escalation: nobody is asked again, and all who were asked hear its end', async () => {
      const [second, third] = await names('carol', 'dan');
      await chain(group, second!, 10);
      await chain(second!, third!, 60);
      const routers: string[] = [];
      for (let n = 0; n < 8; n += 1) routers.push((await seedRouter(storage, { teamId: mine.teamId })).routerId);
      await facts.happen(...routers.map((id) => facts.fault('open', id)));
      await bench.pass(11 * MINUTE);
      await facts.happen(...routers.slice(1).map((id) => facts.fault('resolve', id)));
      await bench.pass(30 * MINUTE);
      expect(bench.server.kindsOf('carol@example.net')).toEqual(['escalation', 'resolve']);
      expect(bench.server.kindsOf('dan@example.net')).toEqual([]);
      await bench.pass(30 * MINUTE);
      expect(bench.server.kindsOf('dan@example.net')).toEqual(['escalation']);
      await facts.happen(facts.fault('resolve', routers[0]!));
      await bench.pass(MINUTE);
      expect(bench.server.kindsOf('carol@example.net')).toEqual(['escalation', 'resolve', 'resolve']);
      expect(bench.server.kindsOf('dan@example.net')).toEqual(['escalation', 'resolve']);
    });

    test('whoever has taken a storm over has what remains of it', async () => {
      const routers: string[] = [];
      for (let n = 0; n < 8; n += 1) routers.push((await seedRouter(storage, { teamId: mine.teamId })).routerId);
      await facts.happen(...routers.map((id) => facts.fault('open', id)));
      await bench.pass(MINUTE);
      const storm = await storage.db.selectFrom('threads').select('id').where('kind', '=', 'storm').executeTakeFirstOrThrow();
      await bench.threads.acknowledge(mine.teamId, { kind: 'user', id: ada }, storm.id);
      await facts.happen(...routers.slice(1).map((id) => facts.fault('resolve', id)));
      await bench.pass(HOUR);
      const left = await storage.db.selectFrom('threads').selectAll().where('router_id', '=', routers[0]!).executeTakeFirstOrThrow();
      expect(left).toMatchObject({ parent_id: null, acknowledged_by: ada, acknowledged_by_kind: 'user', escalate_at: null });
      await bench.pass(20 * HOUR);
      expect(bench.server.kindsOf('ada@example.net')).toEqual(['open', 'resolve']);
    });

    test('a storm is escalated as one', async () => {
      const [second] = await names('carol');
      await chain(group, second!, 10);
      const routers = [];
      for (let n = 0; n < 8; n += 1) routers.push((await seedRouter(storage, { teamId: mine.teamId })).routerId);
      await facts.happen(...routers.map((id) => facts.fault('open', id)));
      await bench.pass(11 * MINUTE);
      expect(bench.server.kindsOf('carol@example.net')).toEqual(['escalation']);
    });
  });
});
