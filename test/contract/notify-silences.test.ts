import { beforeEach, expect, test } from 'vitest';
import { SilencesService } from '../../server/outbound/notifications/silences/service.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { NewNotice } from '../../server/platform/notices/types.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultFacts } from '../harness/fault-facts.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { followKinds } from '../harness/notifications.ts';
import { NotifyBench, seedPerson } from '../harness/notify-bench.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const START = Date.parse('2026-01-05T12:00:00Z');
const ADA = 'ada@example.net';

describeEachDatabase('notifications during a silence', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let mine: SeededRouter;
  let bench: NotifyBench;
  let facts: FaultFacts;
  let silences: SilencesService;
  let isWoken: boolean;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    mine = await seedRouter(storage);
    const group = await followKinds(storage, mine.teamId, ['*']);
    bench = new NotifyBench(storage, clock);
    facts = new FaultFacts(storage, clock, bench, mine.teamId);
    isWoken = false;
    silences = new SilencesService({ storage, clock, keepMs: 24 * HOUR, onEnd: () => (isWoken = true) });
    await seedPerson(storage, mine.teamId, ADA, group);
  });

  const silence = async (place: { routerId?: string; siteId?: string }, ms = 2 * HOUR): Promise<string> => {
    const wanted = { routerId: null, siteId: null, from: undefined, until: clock.now() + ms, reason: 'Work', ...place };
    return (await silences.create(mine.teamId, { kind: 'user', id: newId(START) }, wanted)).id;
  };
  const happen = (phase: 'open' | 'resolve', routerId = mine.routerId, type = 'router_offline'): Promise<void> =>
    facts.happen(facts.fault(phase, routerId, type));
  const reasons = async () => (await bench.log()).map(({ state, reason }) => (reason === null ? state : `${state} ${reason}`));
  const site = async (...routerIds: string[]): Promise<string> => {
    const id = newId(clock.now());
    const row = { id, team_id: mine.teamId, name: id, time_zone: 'Europe/Madrid', created_at: 1 };
    await storage.db.insertInto('sites').values(row).execute();
    await storage.db.updateTable('routers').set({ site_id: id }).where('id', 'in', routerIds).execute();
    return id;
  };

  test('what opens and lasts is told within 15 s of its end, also after a restart', async () => {
    await silence({ routerId: mine.routerId });
    await happen('open');
    await bench.pass(HOUR);
    expect(await reasons()).toEqual(['withheld silenced']);
    bench.restart();
    await bench.pass(2 * HOUR);
    const [mail, ...others] = bench.server.mails;
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ kind: 'still_open' });
    expect(mail!.at - START - 2 * HOUR).toBeLessThanOrEqual(15 * SECOND);
    expect(mail!.at).toBeGreaterThanOrEqual(START + 2 * HOUR);
  });

  test('what opens and ends inside of it is not told; the end of what was told is', async () => {
    await happen('open', mine.routerId, 'wan_down');
    await bench.pass(MINUTE);
    await silence({});
    await happen('open');
    await bench.pass(10 * MINUTE);
    await happen('resolve');
    await happen('resolve', mine.routerId, 'wan_down');
    await bench.pass(4 * HOUR);
    expect(bench.server.kindsOf(ADA)).toEqual(['open', 'resolve']);
    expect(await reasons()).toEqual(['sent', 'withheld silenced', 'withheld over_before_told', 'sent']);
  });

  test('other routers, sites and teams are told; a router of a silenced site is not', async () => {
    const [other, elsewhere] = [await seedRouter(storage, { teamId: mine.teamId }), await seedRouter(storage)];
    await silence({ siteId: await site(mine.routerId) });
    const theirs = await followKinds(storage, elsewhere.teamId, ['*']);
    await seedPerson(storage, elsewhere.teamId, 'eve@example.net', theirs);
    await happen('open');
    await happen('open', other.routerId);
    const notice: NewNotice = { ...facts.fault('open', elsewhere.routerId), teamId: elsewhere.teamId };
    await facts.happen(notice);
    await bench.pass(HOUR);
    expect(bench.server.mails.map(({ to, kind }) => `${kind} ${to}`).toSorted()).toEqual([`open ${ADA}`, 'open eve@example.net']);
  });

  test('of a router covers its forwards, which stand in the log of the router', async () => {
    await silence({ routerId: mine.routerId });
    const notice = (routerId: string): NewNotice => ({
      teamId: mine.teamId,
      kind: 'forward.lost',
      phase: 'open',
      severity: 'warning',
      key: `forward:of ${routerId}`,
      recordId: `of ${routerId} lost`,
      version: 1,
      routerId,
      at: clock.now(),
      data: { target: '192.0.2.1:80', reason: 'router_offline' },
    });
    const other = await seedRouter(storage, { teamId: mine.teamId });
    await bench.facts([notice(mine.routerId), notice(other.routerId)]);
    await bench.pass(HOUR);
    expect(await reasons()).toEqual(['withheld silenced', 'sent']);
    const threads = await storage.db.selectFrom('threads').select(['key', 'router_id']).execute();
    expect(new Map(threads.map(({ key, router_id: id }) => [key, id])).get(`forward:of ${mine.routerId}`)).toBe(mine.routerId);
  });

  test('one that somebody ends is over at once', async () => {
    const id = await silence({ routerId: mine.routerId });
    await happen('open');
    await bench.pass(MINUTE);
    await silences.delete(mine.teamId, id);
    expect(isWoken).toBe(true);
    await bench.pass(MINUTE);
    expect(bench.server.kindsOf(ADA)).toEqual(['still_open']);
  });

  test('two that overlap: it is told when the later one ends', async () => {
    await silence({ routerId: mine.routerId }, HOUR);
    await silence({}, 3 * HOUR);
    await happen('open');
    await bench.pass(2 * HOUR);
    expect(bench.server.mails).toEqual([]);
    await bench.pass(2 * HOUR);
    expect(bench.server.kindsOf(ADA)).toEqual(['still_open']);
  });

  test('many that still burn are one message', async () => {
    const routers = [mine.routerId];
    for (let n = 0; n < 9; n += 1) routers.push((await seedRouter(storage, { teamId: mine.teamId })).routerId);
    await silence({});
    for (const id of routers) {
      await happen('open', id);
      await bench.pass(MINUTE);
    }
    await bench.pass(3 * HOUR);
    expect(bench.server.kindsOf(ADA)).toEqual(['still_open']);
    expect(bench.server.mails[0]!.subject).toContain('10 routers');
  });

  test('an agent is silent when each of its routers is', async () => {
    const second = await seedRouter(storage, { teamId: mine.teamId, agentId: mine.agentId });
    const away = { kind: 'fault.agent_offline', routerId: null, agentId: mine.agentId, key: `agent:${mine.agentId}` } as const;
    await silence({ routerId: mine.routerId });
    await bench.facts([{ ...facts.fault('open', 'x'), ...away, recordId: 'one' }]);
    await bench.pass(MINUTE);
    expect(bench.server.kindsOf(ADA)).toEqual(['open']);
    await bench.facts([{ ...facts.fault('resolve', 'x'), ...away, recordId: 'one' }]);
    await bench.pass(2 * MINUTE);
    await silence({ siteId: await site(second.routerId) });
    clock.advance(HOUR);
    await bench.pass(MINUTE);
    await bench.facts([{ ...facts.fault('open', 'y'), ...away, recordId: 'two' }]);
    await bench.pass(5 * MINUTE);
    expect(bench.server.kindsOf(ADA)).toEqual(['open', 'resolve']);
  });

  test('neither reminders nor escalation during it', async () => {
    await happen('open');
    await bench.pass(MINUTE);
    await silence({}, 9 * HOUR);
    await bench.pass(8 * HOUR);
    expect(bench.server.kindsOf(ADA)).toEqual(['open']);
    await bench.pass(2 * HOUR);
    expect(bench.server.kindsOf(ADA)).toEqual(['open', 'reminder']);
  });

  test('a storm does not count what is silenced', async () => {
    const routers = [];
    for (let n = 0; n < 8; n += 1) routers.push((await seedRouter(storage, { teamId: mine.teamId })).routerId);
    await silence({ routerId: mine.routerId });
    for (const id of routers) await happen('open', id);
    await bench.pass(MINUTE);
    await happen('open');
    await bench.pass(10 * MINUTE);
    expect(bench.server.kindsOf(ADA)).toEqual(['open']);
    expect(await reasons()).toEqual(['sent', 'withheld silenced']);
  });
});
