import { beforeEach, expect, test } from 'vitest';
import { TeamsService } from '../../server/access/teams/service.ts';
import { insertOptout } from '../../server/outbound/notifications/contacts/store.ts';
import { GroupsService } from '../../server/outbound/notifications/groups/service.ts';
import { ProvedAddresses } from '../../server/outbound/notifications/messages/addresses.ts';
import { TopicsService } from '../../server/outbound/notifications/topics/service.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { NewNotice, NoticeKind } from '../../server/platform/notices/types.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
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
});
