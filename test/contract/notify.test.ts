import { beforeEach, expect, test } from 'vitest';
import { GroupsService } from '../../server/outbound/notifications/groups/service.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import { NotificationRetention } from '../../server/outbound/notifications/retention/service.ts';
import { SchedulesService } from '../../server/outbound/notifications/schedules/service.ts';
import { AppError } from '../../server/platform/core/errors.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { NewNotice } from '../../server/platform/notices/types.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultsBench } from '../harness/faults-bench.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { followKinds } from '../harness/notifications.ts';
import { FaultFacts } from '../harness/fault-facts.ts';
import { NotifyBench, seedPerson } from '../harness/notify-bench.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** A Monday, 12:00 UTC. */
const START = Date.parse('2026-01-05T12:00:00Z');

describeEachDatabase('notifications that are sent', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let mine: SeededRouter;
  let group: string;
  let bench: NotifyBench;
  let facts: FaultFacts;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    mine = await seedRouter(storage);
    group = await followKinds(storage, mine.teamId, ['*']);
    bench = new NotifyBench(storage, clock);
    facts = new FaultFacts(storage, clock, bench, mine.teamId);
    await seedPerson(storage, mine.teamId, 'ada@example.net', group);
  });

  const happen = (...notices: NewNotice[]): Promise<void> => facts.happen(...notices);
  const fault = (phase: 'open' | 'resolve', routerId = mine.routerId, type = 'router_offline'): NewNotice =>
    facts.fault(phase, routerId, type);

  test('an agent with 500 routers that is killed and comes back is one message and one end for each person', async () => {
    for (const name of ['bob', 'eve']) await seedPerson(storage, mine.teamId, `${name}@example.net`, group);
    const routers = [mine];
    for (let n = 1; n < 500; n += 1) routers.push(await seedRouter(storage, { teamId: mine.teamId, agentId: mine.agentId }));
    const service = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 75_000 } });
    const rules = { heartbeatMs: 30 * SECOND, offlineAfterMs: 75 * SECOND };
    const faults = new FaultsBench({ storage, clock, log: silentLog, rules, routers: service });
    await faults.start();
    const connection = { agentId: mine.agentId, teamId: mine.teamId, epoch: 1, address: '198.51.100.7', reset: false };
    const heartbeat = (): void =>
      faults.onHeartbeat(connection, {
        type: 'heartbeat',
        routers: routers.map(({ routerId }) => ({ name: `router ${routerId}`, reachable: true, uptime_seconds: null, reason: null })),
      });
    await faults.onReady(connection);
    for (const { routerId } of routers) faults.onInventory(connection, await service.getRouter(mine.teamId, routerId));
    heartbeat();
    faults.onGone(connection);
    clock.advance(2 * MINUTE);
    await faults.stored();
    const stored = clock.now();
    await bench.pass(20 * MINUTE);
    expect(bench.server.mails.map(({ to, kind }) => `${kind} ${to}`).toSorted()).toEqual([
      'open ada@example.net',
      'open bob@example.net',
      'open eve@example.net',
    ]);
    expect(bench.server.mails[0]!.at - stored).toBeLessThanOrEqual(15 * SECOND);
    expect(bench.server.mails[0]!.subject).toContain('500 routers');
    await faults.onReady(connection);
    heartbeat();
    await faults.stop();
    const back = clock.now();
    await bench.pass(3 * HOUR);
    expect(bench.server.mails).toHaveLength(6);
    expect(
      bench.server.mails.slice(3).every(({ kind, previous, at }) => kind === 'resolve' && previous === 1 && at - back <= 30 * SECOND),
    ).toBe(true);
  });

  test('a router up and down every 2 minutes for 6 hours is 3 messages, also with restarts in between', async () => {
    for (let n = 0; n < 90; n += 1) {
      await happen(fault('open'));
      await bench.pass(2 * MINUTE);
      if (n % 10 === 5) bench.restart();
      await happen(fault('resolve'));
      await bench.pass(2 * MINUTE);
    }
    expect(bench.server.kindsOf('ada@example.net')).toEqual(['open', 'resolve', 'update']);
    await bench.pass(HOUR);
    expect(bench.server.kindsOf('ada@example.net')).toEqual(['open', 'resolve', 'update', 'resolve']);
  });

  async function muteFrom13To14(): Promise<string> {
    const windows = [{ day: 'monday' as const, from: 13 * 60, to: 14 * 60 }];
    const schedule = await new SchedulesService({ storage, clock }).create(mine.teamId, { name: 'Lunch', timeZone: 'UTC', windows });
    await new GroupsService({ storage, clock }).change(mine.teamId, group, { mute: 'schedule-inactive', scheduleId: schedule.id });
    return schedule.id;
  }

  test('a fault that ends inside a mute is told when its opening was', async () => {
    await muteFrom13To14();
    await happen(fault('open'));
    await bench.pass(70 * MINUTE);
    await happen(fault('resolve'));
    await bench.pass(5 * MINUTE);
    expect(bench.server.kindsOf('ada@example.net')).toEqual(['open', 'resolve']);
  });

  test('a fault that opens inside a mute and lasts is told within 15 s of its end, also after a restart', async () => {
    await muteFrom13To14();
    await bench.pass(70 * MINUTE);
    await happen(fault('open'));
    await bench.pass(20 * MINUTE);
    expect((await bench.log()).map(({ state, reason }) => [state, reason])).toEqual([['withheld', 'muted']]);
    bench.restart();
    await bench.pass(40 * MINUTE);
    const [mail, ...others] = bench.server.mails;
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ kind: 'still_open' });
    expect(mail!.at).toBeLessThanOrEqual(Date.parse('2026-01-05T14:00:15Z'));
  });

  test('a mute that somebody ends by hand is over at the next look', async () => {
    const groups = new GroupsService({ storage, clock });
    await groups.change(mine.teamId, group, { mute: 'always' });
    await happen(fault('open'));
    await bench.pass(MINUTE);
    await groups.change(mine.teamId, group, { mute: 'never' });
    await bench.pass(MINUTE);
    expect(bench.server.kindsOf('ada@example.net')).toEqual(['still_open']);
  });

  test('a mute that begins while a message waits for a mail server holds it until its end', async () => {
    await muteFrom13To14();
    bench.server.answer = () => ({ outcome: 'retry', error: 'connect_failed', detail: '' });
    await happen(fault('open'), fault('open', mine.routerId, 'wan_down'));
    await bench.pass(70 * MINUTE);
    bench.server.answer = () => ({ outcome: 'sent' });
    await happen(fault('resolve', mine.routerId, 'wan_down'));
    await bench.pass(40 * MINUTE);
    expect(bench.server.mails).toEqual([]);
    bench.restart();
    await bench.pass(30 * MINUTE);
    expect(bench.server.mails.map(({ kind, at }) => [kind, at])).toEqual([['open', Date.parse('2026-01-05T14:00:00Z')]]);
    await happen(fault('resolve'));
    await bench.pass(5 * MINUTE);
    expect(bench.server.kindsOf('ada@example.net')).toEqual(['open', 'resolve']);
    expect((await bench.log()).map(({ kind, state, reason }) => [kind, state, reason])).toEqual([
      ['open', 'sent', null],
      ['open', 'superseded', 'muted'],
      ['resolve', 'withheld', 'muted'],
      ['resolve', 'sent', null],
    ]);
  });

  test('a message that waits for the end of a mute comes when somebody ends it by hand', async () => {
    const groups = new GroupsService({ storage, clock });
    bench.server.answer = () => ({ outcome: 'retry', error: 'connect_failed', detail: '' });
    await happen(fault('open'));
    await bench.pass(MINUTE);
    await groups.change(mine.teamId, group, { mute: 'always' });
    bench.server.answer = () => ({ outcome: 'sent' });
    // Longer than an alert is tried.
    await bench.pass(8 * HOUR);
    expect(bench.server.mails).toEqual([]);
    await groups.change(mine.teamId, group, { mute: 'never' });
    await bench.pass(SECOND);
    expect(bench.server.kindsOf('ada@example.net')).toEqual(['open']);
  });

  test.each<[string, (schedules: SchedulesService, scheduleId: string) => Promise<unknown>]>([
    ['changes its schedule', (schedules, id) => schedules.change(mine.teamId, id, { windows: [{ day: 'sunday', from: 0, to: 60 }] })],
    ['deletes its schedule', (schedules, id) => schedules.delete(mine.teamId, id)],
  ])('a message that waits for the end of a mute comes when somebody %s', async (_what, end) => {
    const scheduleId = await muteFrom13To14();
    bench.server.answer = () => ({ outcome: 'retry', error: 'connect_failed', detail: '' });
    await happen(fault('open'));
    await bench.pass(70 * MINUTE);
    bench.server.answer = () => ({ outcome: 'sent' });
    await bench.pass(10 * MINUTE);
    expect(bench.server.mails).toEqual([]);
    await end(new SchedulesService({ storage, clock }), scheduleId);
    await bench.pass(SECOND);
    expect(bench.server.kindsOf('ada@example.net')).toEqual(['open']);
  });

  test('a mail server that is away for an hour: what is open then is told once, what is over as over', async () => {
    const routers: string[] = [];
    // Each of an agent of its own: those of one agent that go one after the other are told together.
    for (let n = 0; n < 20; n += 1) routers.push((await seedRouter(storage, { teamId: mine.teamId })).routerId);
    bench.server.answer = () => ({ outcome: 'retry', error: 'connect_failed', detail: '' });
    for (const [index, routerId] of routers.entries()) {
      await happen(fault('open', routerId));
      await bench.pass(MINUTE);
      if (index >= 5) await happen(fault('resolve', routerId));
      await bench.pass(2 * MINUTE);
    }
    expect(bench.server.mails).toEqual([]);
    bench.server.answer = () => ({ outcome: 'sent' });
    await bench.pass(2 * HOUR);
    const kinds = bench.server.kindsOf('ada@example.net');
    expect(kinds.filter((kind) => kind === 'open')).toHaveLength(5);
    expect(kinds.filter((kind) => kind === 'was_away')).toHaveLength(15);
    expect(kinds).toHaveLength(20);
  });

  test('a provider that says when is not asked before, and nothing is lost', async () => {
    let until = clock.now() + 5 * MINUTE;
    bench.server.answer = () =>
      clock.now() < until ? { outcome: 'retry', error: 'rate_limited', detail: '', retryAfterMs: 30 * SECOND } : { outcome: 'sent' };
    for (const name of ['bob', 'eve']) await seedPerson(storage, mine.teamId, `${name}@example.net`, group);
    await happen(fault('open'));
    await bench.pass(4 * MINUTE);
    await happen(fault('resolve'));
    await bench.pass(10 * MINUTE);
    const { asked, mails } = bench.server;
    // The messages that were on their way when the first answer came are asked with it.
    const times = [...new Set(asked)];
    for (const [index, at] of times.entries())
      if (index > 0 && at < until) expect(at - times[index - 1]!).toBeGreaterThanOrEqual(30 * SECOND);
    expect(mails.map(({ to, kind }) => `${kind} ${to}`).toSorted()).toEqual([
      'was_away ada@example.net',
      'was_away bob@example.net',
      'was_away eve@example.net',
    ]);
    until = 0;
  });

  test('who is not told is in the log, with the reason', async () => {
    const bob = await seedPerson(storage, mine.teamId, 'bob@example.net', group);
    const groups = new GroupsService({ storage, clock });
    await groups.change(mine.teamId, group, {
      notifiables: [
        { id: bob, channel: 'email' },
        { id: bob, channel: 'whatsapp' },
      ],
    });
    await happen(fault('open'));
    await bench.pass(MINUTE);
    const log = await bench.log();
    expect(log.map(({ channel, state, reason }) => [channel, state, reason])).toEqual([
      ['email', 'sent', null],
      ['email', 'sent', null],
      ['email', 'withheld', 'duplicate'],
      ['whatsapp', 'withheld', 'no_address'],
    ]);
  });

  test('what a provider never takes fails with its word; an alert of six hours expires', async () => {
    bench.server.answer = () => ({ outcome: 'never', error: 'refused', detail: '550 no such user', addressOff: 'bounced' });
    await happen(fault('open'));
    await bench.pass(MINUTE);
    expect((await bench.log()).map(({ state, reason, attempts }) => [state, reason, attempts])).toEqual([['failed', 'bounced', 1]]);
    const attempts = await storage.db.selectFrom('message_attempts').selectAll().execute();
    expect(attempts).toMatchObject([{ outcome: 'never', error: 'refused', detail: '550 no such user', team_id: mine.teamId }]);
    bench.server.answer = () => ({ outcome: 'retry', error: 'unavailable', detail: '' });
    await happen(fault('open', mine.routerId, 'high_cpu'));
    await bench.pass(MINUTE);
    await storage.db.updateTable('threads').set({ acknowledged_at: 1 }).execute();
    await bench.pass(7 * HOUR);
    const [, message, ...others] = await bench.log();
    expect(others).toEqual([]);
    expect(message).toMatchObject({ state: 'failed', reason: 'expired' });
    // 30 minutes between the later attempts.
    expect(message!.attempts).toBeLessThan(25);
  });

  test('groups of another team hear nothing, and a site restricts a group', async () => {
    const other = await seedRouter(storage);
    const theirs = await followKinds(storage, other.teamId, ['*']);
    await seedPerson(storage, other.teamId, 'mallory@example.net', theirs);
    const site = newId(START);
    await storage.db
      .insertInto('sites')
      .values({ id: site, team_id: mine.teamId, name: 'Madrid', time_zone: 'Europe/Madrid', created_at: 1 })
      .execute();
    await storage.db.insertInto('group_sites').values({ team_id: mine.teamId, group_id: group, site_id: site, position: 0 }).execute();
    await happen(fault('open'));
    await bench.pass(MINUTE);
    expect(bench.server.mails).toEqual([]);
    await storage.db.updateTable('routers').set({ site_id: site }).where('id', '=', mine.routerId).execute();
    await happen(fault('open', mine.routerId, 'wan_down'));
    await bench.pass(MINUTE);
    expect(bench.server.mails.map(({ to }) => to)).toEqual(['ada@example.net']);
    expect(bench.server.mails[0]!.subject).toContain('Madrid');
  });

  test('a router that is gone with its fault ends its thread at the latest after ten minutes', async () => {
    await bench.facts([fault('open')]);
    await bench.pass(MINUTE);
    clock.advance(11 * MINUTE);
    await bench.pass(MINUTE);
    expect(bench.server.kindsOf('ada@example.net')).toEqual(['open', 'resolve']);
  });

  test('what has no end is told with the time at which it happened, also in a thread that began long before', async () => {
    const tell = async (kind: NewNotice['kind'], key: string, version: number): Promise<string> => {
      const fact = { teamId: mine.teamId, kind, phase: 'info' as const, severity: 'info' as const, key, version, at: clock.now() };
      const recordId = key.slice(key.indexOf(':') + 1);
      await bench.facts([{ ...fact, recordId, data: { target: 'plc:80', description: 'Upgrade' } }]);
      await bench.pass(30 * MINUTE);
      return bench.server.mails.at(-1)!.first;
    };
    expect(await tell('forward.created', `forward:${newId(START)}`, 1)).toContain('at 12:00');
    const key = `forward:${newId(START)}`;
    expect(await tell('forward.created', key, 1)).toContain('at 12:30');
    expect(await tell('forward.closed', key, 2)).toMatch(/closed at 13:00/);
    const campaign = `campaign:${newId(START)}`;
    expect(await tell('campaign.started', campaign, 1)).toContain('at 13:30');
    expect(await tell('campaign.completed', campaign, 2)).toMatch(/at 14:00/);
  });

  test('a person who left gets nothing more', async () => {
    bench.server.answer = () => ({ outcome: 'retry', error: 'unavailable', detail: '' });
    await happen(fault('open'));
    await bench.pass(MINUTE);
    await storage.db.updateTable('members').set({ active: 0 }).execute();
    bench.server.answer = () => ({ outcome: 'sent' });
    await bench.pass(10 * MINUTE);
    expect((await bench.log()).map(({ state, reason }) => [state, reason])).toEqual([['withheld', 'no_address']]);
  });

  test('a group that is deleted tells the ends of what it told, nothing else, and keeps its log for its time', async () => {
    await happen(fault('open'));
    await bench.pass(MINUTE);
    bench.server.answer = () => ({ outcome: 'retry', error: 'unavailable', detail: '' });
    await happen(fault('open', mine.routerId, 'wan_down'));
    await bench.pass(MINUTE);
    await happen(fault('open', mine.routerId, 'high_cpu'));
    await new GroupsService({ storage, clock }).delete(mine.teamId, group);
    bench.server.answer = () => ({ outcome: 'sent' });
    // Reminders come every four hours.
    await bench.pass(5 * HOUR);
    await happen(fault('open', mine.routerId, 'voltage'));
    await bench.pass(MINUTE);
    expect(bench.server.kindsOf('ada@example.net')).toEqual(['open']);
    await happen(fault('resolve'), fault('resolve', mine.routerId, 'wan_down'), fault('resolve', mine.routerId, 'high_cpu'));
    await bench.pass(5 * MINUTE);
    expect(bench.server.kindsOf('ada@example.net')).toEqual(['open', 'resolve']);
    const log = async () => (await bench.log()).map(({ kind, state, reason }) => `${kind} ${state}${reason === null ? '' : ` ${reason}`}`);
    expect((await log()).toSorted()).toEqual(['open sent', 'open withheld group_deleted', 'resolve sent']);
    const retention = new NotificationRetention({ storage, clock, keepMs: 30 * 24 * HOUR });
    clock.advance(29 * 24 * HOUR);
    await retention.sweep();
    expect(await log()).toHaveLength(3);
    clock.advance(24 * HOUR);
    await retention.sweep();
    expect(await log()).toEqual([]);
    expect(await storage.db.selectFrom('notification_groups').selectAll().execute()).toEqual([]);
  });

  test('a group that is deleted with what never ended is gone with its log after the time of the log', async () => {
    await happen(fault('open'));
    await bench.pass(MINUTE);
    await new GroupsService({ storage, clock }).delete(mine.teamId, group);
    clock.advance(31 * 24 * HOUR);
    await new NotificationRetention({ storage, clock, keepMs: 30 * 24 * HOUR }).sweep();
    expect(await bench.log()).toEqual([]);
    expect(await storage.db.selectFrom('notification_groups').selectAll().execute()).toEqual([]);
  });

  test('one that never told anything is gone at once', async () => {
    await new GroupsService({ storage, clock }).delete(mine.teamId, group);
    expect(await storage.db.selectFrom('notification_groups').selectAll().execute()).toEqual([]);
  });

  test('whoever is taken out of a group hears the end of what they were told, and nothing new', async () => {
    const bob = await seedPerson(storage, mine.teamId, 'bob@example.net', group);
    const groups = new GroupsService({ storage, clock });
    await happen(fault('open'));
    await bench.pass(MINUTE);
    clock.advance(1);
    await groups.change(mine.teamId, group, { recipients: [bob] });
    await bench.pass(5 * HOUR);
    await happen(fault('resolve'));
    await bench.pass(MINUTE);
    expect(bench.server.kindsOf('ada@example.net')).toEqual(['open', 'resolve']);
    expect(bench.server.kindsOf('bob@example.net')).toEqual(['open', 'reminder', 'resolve']);
    await bench.pass(2 * HOUR);
    await happen(fault('open'));
    await bench.pass(5 * MINUTE);
    await happen(fault('resolve'));
    await bench.pass(5 * MINUTE);
    expect(bench.server.kindsOf('ada@example.net')).toEqual(['open', 'resolve']);
    expect(bench.server.kindsOf('bob@example.net').slice(3)).toEqual(['open', 'resolve']);
  });

  test('the end of a storm says how many it was, also when its threads are on their own again', async () => {
    const routers: string[] = [];
    for (let n = 0; n < 8; n += 1) routers.push((await seedRouter(storage, { teamId: mine.teamId })).routerId);
    await happen(...routers.map((id) => fault('open', id)));
    await bench.pass(MINUTE);
    await happen(...routers.slice(1).map((id) => fault('resolve', id)));
    await bench.pass(10 * MINUTE);
    expect(bench.server.mails.map(({ kind, subject }) => [kind, /\d+ routers?/.exec(subject)?.[0]])).toEqual([
      ['open', '8 routers'],
      ['resolve', '8 routers'],
    ]);
    // It comes back within the hour, with others.
    await happen(...routers.slice(2).map((id) => fault('open', id, 'wan_down')));
    await bench.pass(MINUTE);
    await happen(...routers.slice(2).map((id) => fault('resolve', id, 'wan_down')));
    await bench.pass(10 * MINUTE);
    expect(bench.server.mails.slice(2).map(({ kind, subject }) => [kind, /\d+ routers?/.exec(subject)?.[0]])).toEqual([
      ['open', '6 routers'],
      ['resolve', '6 routers'],
    ]);
  });

  test('contact lost names all agents', async () => {
    const agents = [mine.agentId];
    for (let n = 1; n < 12; n += 1) agents.push((await seedRouter(storage, { teamId: mine.teamId })).agentId);
    for (const agentId of agents)
      await bench.facts([
        {
          teamId: mine.teamId,
          kind: 'fault.agent_offline',
          phase: 'open',
          severity: 'critical',
          key: `agent:${agentId}`,
          recordId: agentId,
          version: clock.now(),
          agentId,
          at: clock.now(),
        },
      ]);
    await bench.pass(5 * MINUTE);
    expect(bench.server.mails.map(({ subject }) => subject)).toEqual([expect.stringContaining('12 of 12 agents')]);
  });

  test('a team with many messages does not hold up another one that uses the same account', async () => {
    bench.server.limits = { perSecond: 1, burst: 1 };
    for (let n = 0; n < 40; n += 1) await seedPerson(storage, mine.teamId, `many${n}@example.net`, group);
    const other = await seedRouter(storage);
    await seedPerson(storage, other.teamId, 'eve@example.net', await followKinds(storage, other.teamId, ['*']));
    await happen(fault('open'));
    await bench.pass(5 * SECOND);
    const theirs = new FaultFacts(storage, clock, bench, other.teamId);
    await theirs.happen(theirs.fault('open', other.routerId));
    await bench.pass(MINUTE);
    expect(bench.server.mails.findIndex(({ to }) => to === 'eve@example.net')).toBeGreaterThanOrEqual(0);
    expect(bench.server.mails.findIndex(({ to }) => to === 'eve@example.net')).toBeLessThan(12);
  });

  test('each step that is rolled back and repeated loses and doubles nothing', async () => {
    // Breaks a third of the transactions after their work is done, as a process that is killed before the commit.
    let random = 12_345;
    const killed: Storage = {
      ...storage,
      writes: {
        write: (work) =>
          storage.writes.write(async (tx) => {
            const result = await work(tx);
            random = (random * 1_103_515_245 + 12_345) % 2 ** 31;
            if (random % 3000 < 1000) throw new AppError('unavailable', 'killed');
            return result;
          }),
      },
    };
    bench.restart(killed);
    const again = async (): Promise<void> => {
      for (let n = 0; n < 40; n += 1) {
        bench.restart(killed);
        await bench.settle().catch(() => undefined);
        // A claim of a process that died expires.
        await storage.db.updateTable('messages').set({ claimed_until: 0 }).where('claim', 'is not', null).execute();
      }
    };
    const routers: string[] = [];
    for (let n = 0; n < 4; n += 1) routers.push((await seedRouter(storage, { teamId: mine.teamId, agentId: mine.agentId })).routerId);
    await happen(...routers.map((id) => fault('open', id)));
    for (let n = 0; n < 6; n += 1) {
      await again();
      clock.advance(3 * SECOND);
    }
    await happen(...routers.map((id) => fault('resolve', id)));
    for (let n = 0; n < 6; n += 1) {
      await again();
      clock.advance(10 * SECOND);
    }
    const log = await bench.log();
    expect(
      log
        .filter(({ state }) => state === 'sent')
        .map(({ kind }) => kind)
        .toSorted(),
    ).toEqual([...Array.from({ length: 4 }, () => 'open'), ...Array.from({ length: 4 }, () => 'resolve')]);
    expect(log.filter(({ state }) => state === 'pending')).toEqual([]);
    // At least once: what was sent before its record was lost carries the same id.
    expect(new Set(bench.server.mails.map(({ id }) => id)).size).toBe(8);
  });
});
