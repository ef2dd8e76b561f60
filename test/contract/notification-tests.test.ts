import { setTimeout as wait } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { TeamsService } from '../../server/access/teams/service.ts';
import { GroupsService } from '../../server/outbound/notifications/groups/service.ts';
import { DeliveryLog } from '../../server/outbound/notifications/log/service.ts';
import { threadRoutes } from '../../server/outbound/notifications/log/threads/routes.ts';
import { ProvedAddresses } from '../../server/outbound/notifications/messages/addresses.ts';
import { testRoutes } from '../../server/outbound/notifications/test-messages/routes.ts';
import { TestMessages } from '../../server/outbound/notifications/test-messages/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { makeAddresses } from '../harness/notification-addresses.ts';
import { NotifyBench } from '../harness/notify-bench.ts';
import { seedTeam } from '../harness/seed.ts';
import { TeamApp } from '../harness/team-app.ts';
import type { TeamAnswer } from '../harness/team-app.ts';

const START = Date.parse('2026-01-05T12:00:00Z');

interface Tested {
  thread_id: string;
  messages: Record<string, unknown>[];
}

describeEachDatabase('a test of a group', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let app: TeamApp;
  let bench: NotifyBench;
  let groups: GroupsService;
  let teamId: string;
  let ada: string;
  let bob: string;
  let group: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    ({ teamId } = await seedTeam(storage));
    const { contacts, groupAddresses, messageLinks } = makeAddresses({ storage, clock });
    bench = new NotifyBench(storage, clock, new ProvedAddresses(groupAddresses, messageLinks));
    groups = new GroupsService({ storage, clock });
    const log = new DeliveryLog({ storage, clock, contacts, publicUrl: 'https://signalbox.example' });
    const testMessages = new TestMessages({ storage, clock, groups, messages: bench.messages, log });
    app = new TeamApp((scope) => {
      testRoutes(scope, { testMessages });
      threadRoutes(scope, { deliveryLog: log });
    });
    const teams = new TeamsService({ storage, clock });
    const person = async (email: string) => (await teams.createUser({ teamId, email, role: 'viewer' })).member.userId;
    [ada, bob] = [await person('ada@example.org'), await person('bob@example.org')];
    await teams.confirmEmail('ada@example.org');
    group = (await groups.create(teamId, { name: 'Ops', recipients: [ada, bob], mute: 'always' })).id;
  });

  /** Time goes by while the answer waits for it, and stands still while it reads and writes. @returns the answer, and how long it took */
  async function ask(role = `admin/${ada}`, path = `/api/groups/${group}/test`): Promise<TeamAnswer & { tookMs: number }> {
    const begun = clock.now();
    const asked = app.ask(teamId, 'POST', path, undefined, role as 'admin');
    while ((await Promise.race([asked, wait(5)])) === undefined) {
      await bench.messages.idle();
      // Whoever answers looks every 150 ms.
      if (clock.untilNext <= 150) clock.advance(50);
    }
    return { ...(await asked), tookMs: clock.now() - begun };
  }

  const data = ({ body }: TeamAnswer): Tested => body['data'] as Tested;

  test('goes to everybody whom the group reaches, muted or not, and says who got it', async () => {
    const answer = await ask();
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(answer.tookMs).toBeLessThan(9000);
    const { thread_id: threadId, messages } = data(answer);
    const of = (id: string) => messages.find(({ user_id: user }) => user === id);
    expect(messages).toHaveLength(2);
    expect(of(ada)).toMatchObject({
      state: 'sent',
      kind: 'test',
      thread_id: threadId,
      attempts: [{ outcome: 'sent' }],
      address: 'ada@example.org',
    });
    expect(of(bob)).toMatchObject({ state: 'withheld', reason: 'unverified', attempts: [] });
    const [mail] = bench.server.mails;
    expect(bench.server.mails).toHaveLength(1);
    expect(mail).toMatchObject({ to: 'ada@example.org', kind: 'test', subject: of(ada)!['subject'] });
    expect(mail!.subject).toMatch(/^Test: /);
    const listed = await app.get(teamId, '/api/threads');
    expect(listed.body['data']).toMatchObject([{ id: threadId, kind: 'test', state: 'closed', subject: mail!.subject }]);
  });

  test('says within 10 s what the provider answers, and sends nothing after that', async () => {
    bench.server.answer = () => ({ outcome: 'retry', error: 'unavailable', detail: '451 the disk is full' });
    const answer = await ask();
    expect(answer.tookMs).toBeLessThanOrEqual(10_000);
    const [row] = data(answer).messages.filter(({ user_id: user }) => user === ada);
    expect(row).toMatchObject({ state: 'failed', reason: 'unavailable' });
    const attempts = row!['attempts'] as Record<string, unknown>[];
    expect(attempts.length).toBeGreaterThan(1);
    expect(attempts.at(-1)).toMatchObject({ outcome: 'retry', error: 'unavailable', detail: '451 the disk is full' });
    bench.server.answer = () => ({ outcome: 'sent' });
    await bench.pass(3_600_000);
    expect(bench.server.mails).toEqual([]);
  });

  test('says that a receiver does not answer, or that its provider has asked for a pause', async () => {
    // Its deadline ends the attempt.
    bench.server.answer = () => ({ outcome: 'stopped' });
    const rowOf = async () => data(await ask()).messages.find(({ user_id: user }) => user === ada);
    expect(await rowOf()).toMatchObject({
      state: 'failed',
      reason: 'timed_out',
      attempts: [{ error: 'timed_out' }, { outcome: 'retry', error: 'timed_out' }],
    });
    bench.server.answer = () => ({ outcome: 'retry', error: 'rate_limited', detail: '429', retryAfterMs: 3_600_000 });
    clock.advance(60_000);
    expect(await rowOf()).toMatchObject({ state: 'failed', reason: 'rate_limited', attempts: [{ error: 'rate_limited', detail: '429' }] });
    clock.advance(60_000);
    expect(await rowOf()).toMatchObject({ state: 'failed', reason: 'provider_wait', attempts: [] });
  });

  test('is not repeated at once', async () => {
    await ask();
    const again = await ask();
    expect(again).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(again.headers['retry-after'])).toBeGreaterThan(0);
    clock.advance(10_000);
    expect((await ask()).status).toBe(200);
  });

  test('is for administrators of the team', async () => {
    expect((await ask('operator')).status).toBe(403);
    const other = await seedTeam(storage);
    const answer = await app.ask(other.teamId, 'POST', `/api/groups/${group}/test`);
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(bench.server.asked).toEqual([]);
  });
});
