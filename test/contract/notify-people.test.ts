import { beforeEach, describe, expect, test } from 'vitest';
import { TeamsService } from '../../server/access/teams/service.ts';
import { insertOptout } from '../../server/outbound/notifications/contacts/store.ts';
import { GroupsService } from '../../server/outbound/notifications/groups/service.ts';
import { ProvedAddresses } from '../../server/outbound/notifications/messages/addresses.ts';
import { TopicsService } from '../../server/outbound/notifications/topics/service.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { NewNotice, NoticeKind } from '../../server/platform/notices/types.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultFacts } from '../harness/fault-facts.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { makeAddresses } from '../harness/notification-addresses.ts';
import type { Addresses } from '../harness/notification-addresses.ts';
import { NotifyBench } from '../harness/notify-bench.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';

const MINUTE = 60_000;
const START = Date.parse('2026-01-05T12:00:00Z');

describeEachDatabase('messages to people', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let mine: SeededRouter;
  let made: Addresses;
  let bench: NotifyBench;
  let ada: string;
  let outages: string;
  let jobs: string;
  let group: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    mine = await seedRouter(storage);
    made = makeAddresses({ storage, clock });
    bench = new NotifyBench(storage, clock, new ProvedAddresses(made.groupAddresses, made.messageLinks));
    const teams = new TeamsService({ storage, clock });
    ada = (await teams.createUser({ teamId: mine.teamId, email: 'ada@example.org', role: 'viewer' })).member.userId;
    const topics = new TopicsService({ storage, clock });
    outages = (await topics.create(mine.teamId, { name: 'Outages', events: ['fault.*'] })).id;
    jobs = (await topics.create(mine.teamId, { name: 'Jobs', events: ['job.*'] })).id;
    const groups = new GroupsService({ storage, clock });
    group = (await groups.create(mine.teamId, { name: 'Ops', recipients: [ada], topics: [outages, jobs] })).id;
  });

  const confirmEmail = (): Promise<unknown> => new TeamsService({ storage, clock }).confirmEmail('ada@example.org');
  const leave = (scope: 'topic' | 'group' | 'all', scopeId: string): Promise<void> =>
    insertOptout(storage.db, { teamId: mine.teamId, userId: ada, id: newId(START), scope, scopeId, at: START });
  const log = async () => (await bench.log()).map(({ state, reason }) => (reason === null ? state : `${state} ${reason}`));

  async function happen(kind: NoticeKind): Promise<void> {
    const notice: NewNotice = {
      teamId: mine.teamId,
      kind,
      phase: 'info',
      severity: 'warning',
      key: `router:${mine.routerId}:${kind}`,
      recordId: newId(clock.now()),
      version: 1,
      routerId: mine.routerId,
      at: clock.now(),
    };
    await bench.facts([notice]);
    await bench.pass(MINUTE);
  }

  test('nothing goes to an address that is not proved; the log says why', async () => {
    await happen('job.failed');
    expect(bench.server.asked).toEqual([]);
    expect(await log()).toEqual(['withheld unverified']);
  });

  test('a mail carries the link to leave the topics by which it came', async () => {
    await confirmEmail();
    await happen('job.failed');
    const [mail] = bench.server.mails;
    const token = new URL(mail!.unsubscribeUrl!).pathname.split('/').at(-1)!;
    expect(made.messageLinks.read(token)).toEqual({ teamId: mine.teamId, userId: ada, groupId: group, topicIds: [jobs] });
  });

  test('a mail is in the language of its reader', async () => {
    await confirmEmail();
    await happen('job.failed');
    await storage.db.updateTable('users').set({ locale: 'de' }).where('id', '=', ada).execute();
    clock.advance(10 * MINUTE);
    await happen('job.failed');
    const [english, german] = bench.server.mails.map(({ subject }) => subject);
    expect(german).not.toBe(english);
  });

  test('whoever has left a topic gets the others; whoever has left the group or everything gets nothing', async () => {
    await confirmEmail();
    await leave('topic', jobs);
    await happen('job.failed');
    expect(await log()).toEqual(['withheld unsubscribed']);
    await happen('fault.rebooted');
    expect(await log()).toEqual(['withheld unsubscribed', 'sent']);
    await leave('group', group);
    clock.advance(2 * 60 * MINUTE);
    await happen('fault.rebooted');
    expect(await log()).toEqual(['withheld unsubscribed', 'sent', 'withheld unsubscribed']);
    expect(bench.server.mails).toHaveLength(1);
  });

  describe('topics of a thread in which different things happen', () => {
    let starts: string;
    let ends: string;

    beforeEach(async () => {
      await confirmEmail();
      const topics = new TopicsService({ storage, clock });
      starts = (await topics.create(mine.teamId, { name: 'Starts', events: ['campaign.started'] })).id;
      ends = (await topics.create(mine.teamId, { name: 'Ends', events: ['campaign.aborted'] })).id;
      await new GroupsService({ storage, clock }).change(mine.teamId, group, { topics: [starts, ends, outages] });
    });

    async function campaign(change: 'started' | 'aborted'): Promise<void> {
      const notice: NewNotice = {
        teamId: mine.teamId,
        kind: `campaign.${change}`,
        phase: 'info',
        severity: 'warning',
        key: 'campaign:1',
        recordId: 'campaign 1',
        version: 'next',
        at: clock.now(),
      };
      await bench.facts([notice]);
      await bench.pass(MINUTE);
    }

    test('whoever has left that of the first one gets the others, with links to leave theirs', async () => {
      await leave('topic', starts);
      await campaign('started');
      await campaign('aborted');
      expect(await log()).toEqual(['withheld unsubscribed', 'sent']);
      const token = new URL(bench.server.mails[0]!.unsubscribeUrl!).pathname.split('/').at(-1)!;
      expect(made.messageLinks.read(token)?.topicIds).toEqual([ends]);
    });

    test('whoever has left that of a later one gets the first', async () => {
      await leave('topic', ends);
      await campaign('started');
      await campaign('aborted');
      expect(await log()).toEqual(['sent', 'withheld unsubscribed']);
    });

    test('what takes the place of a message that was not sent comes by the topics of both', async () => {
      await leave('topic', ends);
      bench.server.answer = () => ({ outcome: 'retry', error: 'unavailable', detail: '' });
      await campaign('started');
      await campaign('aborted');
      bench.server.answer = () => ({ outcome: 'sent' });
      await bench.pass(30 * MINUTE);
      expect(await log()).toEqual(['superseded', 'sent']);
    });

    test('a storm comes by the topics of what is in it', async () => {
      const storm = async (type: string): Promise<void> => {
        const facts = new FaultFacts(storage, clock, bench, mine.teamId);
        const routers = [];
        for (let n = 0; n < 6; n += 1) routers.push((await seedRouter(storage, { teamId: mine.teamId })).routerId);
        await facts.happen(...routers.map((id) => facts.fault('open', id, type)));
        await bench.pass(MINUTE);
        await facts.happen(...routers.map((id) => facts.fault('resolve', id, type)));
        await bench.pass(MINUTE);
      };
      await leave('topic', outages);
      await storm('wan_down');
      expect(await log()).toEqual(['withheld unsubscribed', 'withheld unsubscribed']);
      const wan = (await new TopicsService({ storage, clock }).create(mine.teamId, { name: 'WAN', events: ['fault.wan_down'] })).id;
      await new GroupsService({ storage, clock }).change(mine.teamId, group, { topics: [starts, ends, outages, wan] });
      clock.advance(120 * MINUTE);
      await storm('wan_down');
      expect(bench.server.kindsOf('ada@example.org')).toEqual(['open', 'resolve']);
    });
  });

  test('whoever leaves while a message waits does not get it', async () => {
    await confirmEmail();
    bench.server.answer = () => ({ outcome: 'retry', error: 'unavailable', detail: '' });
    await happen('job.failed');
    await leave('all', '');
    bench.server.answer = () => ({ outcome: 'sent' });
    await bench.pass(60 * MINUTE);
    expect(bench.server.mails).toEqual([]);
    expect(await log()).toEqual(['withheld unsubscribed']);
  });

  describe('quiet hours', () => {
    const HOUR = 60 * MINUTE;
    const CHAT = '4711';
    const at = (time: string): number => Date.parse(time);
    let facts: FaultFacts;

    async function sleeps(from: number, to: number, timeZone: string, criticalBreaksThrough = true): Promise<void> {
      const owner = { teamId: mine.teamId, userId: ada };
      const { id } = await made.contacts.add(owner, 'telegram', { address: CHAT });
      await storage.db.updateTable('contacts').set({ verified_at: 1 }).where('id', '=', id).execute();
      await made.contacts.change(owner, { timeZone, quiet: { from: from * 60, to: to * 60, criticalBreaksThrough } });
      const notifiables = [{ id: ada, channel: 'telegram' as const }];
      await new GroupsService({ storage, clock }).change(mine.teamId, group, { recipients: [], notifiables });
      facts = new FaultFacts(storage, clock, bench, mine.teamId);
    }
    const until = (time: string): Promise<void> => bench.pass(at(time) - clock.now());
    const fault = (phase: 'open' | 'resolve', type = 'high_cpu', severity: NewNotice['severity'] = 'warning'): Promise<void> =>
      facts.happen(facts.fault(phase, mine.routerId, type, severity));
    const told = (): string[] => bench.server.kindsOf(CHAT);

    test('hold what is not critical until their end, and say it once as it is then', async () => {
      await sleeps(22, 7, 'UTC');
      await until('2026-01-05T23:00:00Z');
      await fault('open');
      await fault('open', 'wan_down', 'critical');
      await bench.pass(HOUR);
      expect(told()).toEqual(['open']);
      expect(bench.server.mails[0]!.subject).toContain('WAN');
      expect((await log()).toSorted()).toEqual(['held quiet_hours', 'sent']);
      bench.restart();
      await until('2026-01-06T06:59:59Z');
      expect(told().filter((kind) => kind !== 'reminder')).toEqual(['open']);
      await until('2026-01-06T07:00:01Z');
      expect(told().filter((kind) => kind !== 'reminder')).toEqual(['open', 'open']);
      expect(bench.server.mails.at(-1)!.at).toBe(at('2026-01-06T07:00:00Z'));
    });

    test('hold critical ones too, where the person wants it', async () => {
      await sleeps(22, 7, 'UTC', false);
      await until('2026-01-05T23:00:00Z');
      await fault('open', 'wan_down', 'critical');
      await until('2026-01-06T06:59:59Z');
      expect(told()).toEqual([]);
      await until('2026-01-06T07:00:01Z');
      // The reminder of the night has replaced the opening.
      expect(told()).toEqual(['open']);
    });

    test('what begins and ends in them is no message, and stands in the log', async () => {
      await sleeps(22, 7, 'UTC');
      await until('2026-01-05T23:00:00Z');
      await fault('open');
      await bench.pass(HOUR);
      await fault('resolve');
      await until('2026-01-06T08:00:00Z');
      expect(told()).toEqual([]);
      expect(await log()).toEqual(['superseded quiet_hours', 'withheld over_in_quiet_hours']);
    });

    test('the end of what was told before waits, and is told', async () => {
      await sleeps(22, 7, 'UTC');
      await until('2026-01-05T21:30:00Z');
      await fault('open');
      await until('2026-01-05T23:00:00Z');
      await fault('resolve');
      await until('2026-01-06T06:00:00Z');
      expect(told()).toEqual(['open']);
      await until('2026-01-06T08:00:00Z');
      expect(told()).toEqual(['open', 'resolve']);
    });

    test('what could not be sent before them waits, too', async () => {
      await sleeps(22, 7, 'UTC');
      await until('2026-01-05T21:59:50Z');
      bench.server.answer = () => ({ outcome: 'retry', error: 'unavailable', detail: '' });
      await fault('open');
      await bench.pass(HOUR);
      bench.server.answer = () => ({ outcome: 'sent' });
      await until('2026-01-06T06:59:59Z');
      expect(told()).toEqual([]);
      await until('2026-01-06T07:00:01Z');
      expect(told()).toEqual(['open']);
    });

    test('mail is not held', async () => {
      await confirmEmail();
      await sleeps(0, 23, 'UTC');
      await new GroupsService({ storage, clock }).change(mine.teamId, group, { recipients: [ada], notifiables: [] });
      await fault('open');
      await bench.pass(MINUTE);
      expect(bench.server.kindsOf('ada@example.org')).toEqual(['open']);
    });

    test.each([
      // 3:00 becomes 2:00 on 5 April 2026, and 2:00 becomes 3:00 on 27 September.
      ['set back', '2026-04-04T10:00:00Z', '2026-04-04T19:00:00Z'],
      ['set forward', '2026-09-26T11:00:00Z', '2026-09-26T18:00:00Z'],
    ])('in Auckland in the night in which the clocks are %s they end at 7:00 there, to the minute', async (_which, from, end) => {
      const site = newId(START);
      await storage.db
        .insertInto('sites')
        .values({ id: site, team_id: mine.teamId, name: 'Madrid', time_zone: 'Europe/Madrid', created_at: 1 })
        .execute();
      await storage.db.updateTable('routers').set({ site_id: site }).where('id', '=', mine.routerId).execute();
      clock.advance(at(from) - clock.now() - HOUR);
      await sleeps(22, 7, 'Pacific/Auckland');
      await until(from);
      await fault('open');
      await bench.pass(at(end) - clock.now() - 1000);
      expect(told()).toEqual([]);
      await bench.pass(2000);
      expect(told()).toEqual(['open']);
      expect(bench.server.mails[0]!.at).toBe(at(end));
    });
  });
});
