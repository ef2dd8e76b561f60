import { beforeEach, expect, test } from 'vitest';
import { TeamsService } from '../../server/access/teams/service.ts';
import type { AuditLine } from '../../server/outbound/notifications/leaving/acknowledging.ts';
import { messageLinkRoutes } from '../../server/outbound/notifications/leaving/routes.ts';
import { ProvedAddresses } from '../../server/outbound/notifications/messages/addresses.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultFacts } from '../harness/fault-facts.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { makeAddresses, visitsOf } from '../harness/notification-addresses.ts';
import type { Addresses } from '../harness/notification-addresses.ts';
import { followKinds } from '../harness/notifications.ts';
import { NotifyBench, seedPerson } from '../harness/notify-bench.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { TeamApp } from '../harness/team-app.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const START = Date.parse('2026-01-05T12:00:00Z');

describeEachDatabase('the link of a message that takes its thread over', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let mine: SeededRouter;
  let made: Addresses;
  let bench: NotifyBench;
  let facts: FaultFacts;
  let app: TeamApp;
  let ada: string;
  let recorded: AuditLine[];

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    mine = await seedRouter(storage);
    made = makeAddresses({ storage, clock });
    bench = new NotifyBench(storage, clock, new ProvedAddresses(made.groupAddresses, made.messageLinks), made.messageLinks);
    facts = new FaultFacts(storage, clock, bench, mine.teamId);
    const group = await followKinds(storage, mine.teamId, ['*']);
    ada = await seedPerson(storage, mine.teamId, 'ada@example.org', group);
    await seedPerson(storage, mine.teamId, 'bob@example.org', group);
    for (const email of ['ada@example.org', 'bob@example.org']) await new TeamsService({ storage, clock }).confirmEmail(email);
    app = new TeamApp(() => undefined);
    recorded = [];
    const rateLimit = { perMinute: 1000, monotonic: () => clock.now() };
    const deps = { ...made, acknowledgeVisits: visitsOf(made, bench, clock, (entry) => recorded.push(entry)), rateLimit };
    void app.app.register(async (scope) => messageLinkRoutes(scope as TeamApp['app'], deps));
  });

  const fault = (phase: 'open' | 'resolve'): Promise<void> => facts.happen(facts.fault(phase, mine.routerId));
  const thread = () => storage.db.selectFrom('threads').selectAll().executeTakeFirstOrThrow();
  const linkOf = (to: string): string => bench.server.mails.find((mail) => mail.to === to)!.acknowledgeUrl!;
  async function visit(method: 'GET' | 'POST', link: string): Promise<{ status: number; page: string }> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const form = method === 'POST' ? { payload: 'acknowledge=yes', headers } : {};
    const answer = await app.app.inject({ method, url: new URL(link).pathname, ...form });
    return { status: answer.statusCode, page: answer.body };
  }

  test('shows what it is about and changes nothing, however often it is opened; the button acts', async () => {
    await fault('open');
    await bench.pass(MINUTE);
    const link = linkOf('ada@example.org');
    for (let n = 0; n < 20; n += 1) expect(await visit('GET', link)).toMatchObject({ status: 200 });
    expect((await visit('GET', link)).page).toContain('offline since');
    expect(await thread()).toMatchObject({ acknowledged_at: null, revision: 1 });
    expect((await visit('POST', link)).page).toContain('You have taken this over');
    expect(await thread()).toMatchObject({ acknowledged_by: ada, acknowledged_by_kind: 'user' });
    await bench.pass(5 * 60 * MINUTE);
    expect(bench.server.kindsOf('bob@example.org')).toEqual(['open', 'acknowledged']);
    expect((await visit('GET', linkOf('bob@example.org'))).page).toContain('ada@example.org');
  });

  test('stands in messages about what is open, and in no other', async () => {
    await fault('open');
    await bench.pass(5 * 60 * MINUTE);
    await fault('resolve');
    await bench.pass(MINUTE);
    const links = bench.server.mails
      .filter(({ to }) => to === 'ada@example.org')
      .map(({ kind, acknowledgeUrl }) => [kind, acknowledgeUrl !== null]);
    expect(links).toEqual([
      ['open', true],
      ['reminder', true],
      ['resolve', false],
    ]);
  });

  test('takes over as the API does: a viewer may not, and the audit log says who did', async () => {
    const setRole = (role: string) => storage.db.updateTable('members').set({ role }).where('user_id', '=', ada).execute();
    await fault('open');
    await bench.pass(MINUTE);
    const link = linkOf('ada@example.org');
    await setRole('viewer');
    for (const method of ['GET', 'POST'] as const) expect((await visit(method, link)).status).toBe(404);
    expect(await thread()).toMatchObject({ acknowledged_at: null });
    expect(recorded).toEqual([]);
    await setRole('operator');
    expect((await visit('POST', link)).page).toContain('You have taken this over');
    const { id, team_id } = await thread();
    expect(recorded).toEqual([
      {
        team_id,
        actor_kind: 'user',
        actor_id: ada,
        source: '127.0.0.1',
        action: 'took over by link',
        target: `/api/threads/${id}`,
        result: 200,
        detail: expect.stringContaining('offline since') as string,
      },
    ]);
  });

  test('is in no message to a viewer', async () => {
    await storage.db.updateTable('members').set({ role: 'viewer' }).where('user_id', '=', ada).execute();
    await fault('open');
    await bench.pass(MINUTE);
    const links = bench.server.mails.map(({ to, acknowledgeUrl }) => [to, acknowledgeUrl !== null]);
    expect(Object.fromEntries(links)).toEqual({ 'ada@example.org': false, 'bob@example.org': true });
  });

  test('says that it is over, and does nothing then', async () => {
    await fault('open');
    await bench.pass(MINUTE);
    await fault('resolve');
    await bench.pass(MINUTE);
    for (const method of ['GET', 'POST'] as const) expect((await visit(method, linkOf('ada@example.org'))).page).toContain('This is over');
    expect(await thread()).toMatchObject({ acknowledged_at: null });
  });

  test('works for seven days, for its reader as long as they are in the team, and only as it was signed', async () => {
    await fault('open');
    await bench.pass(MINUTE);
    const link = linkOf('ada@example.org');
    const [payload, signature] = link.split('/').at(-1)!.split('.') as [string, string];
    const leave = bench.server.mails[0]!.unsubscribeUrl!.split('/').at(-1)!;
    for (const token of [`${payload}.${signature.slice(1)}`, payload, 'x.y', leave])
      for (const method of ['GET', 'POST'] as const)
        expect((await visit(method, `https://signalbox.test/mail/acknowledge/${token}`)).status, token).toBe(404);
    await storage.db.updateTable('members').set({ active: 0 }).where('user_id', '=', ada).execute();
    for (const method of ['GET', 'POST'] as const) expect((await visit(method, link)).status).toBe(404);
    await storage.db.updateTable('members').set({ active: 1 }).execute();
    expect((await visit('GET', link)).status).toBe(200);
    clock.advance(7 * DAY);
    for (const method of ['GET', 'POST'] as const) expect((await visit(method, link)).status).toBe(404);
    expect(await thread()).toMatchObject({ acknowledged_at: null });
  });
});
