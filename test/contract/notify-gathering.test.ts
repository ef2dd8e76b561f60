import { beforeEach, expect, test } from 'vitest';
import { GroupsService } from '../../server/outbound/notifications/groups/service.ts';
import { DeliveryLog } from '../../server/outbound/notifications/log/service.ts';
import { readFacts } from '../../server/outbound/notifications/messages/view/facts.ts';
import { viewOf } from '../../server/outbound/notifications/messages/view/read.ts';
import { writeText } from '../../server/outbound/notifications/texts/write.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { NewNotice } from '../../server/platform/notices/types.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultFacts } from '../harness/fault-facts.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { followKinds } from '../harness/notifications.ts';
import { NotifyBench, seedPerson } from '../harness/notify-bench.ts';
import { seedRouter } from '../harness/seed.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.parse('2026-01-05T12:00:00Z');

describeEachDatabase('many of one kind', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let teamId: string;
  let bench: NotifyBench;
  let routers: string[];
  let agentId: string;
  let groupId: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    const mine = await seedRouter(storage);
    ({ teamId, agentId } = mine);
    routers = [mine.routerId];
    for (let n = 1; n < 8; n += 1) routers.push((await seedRouter(storage, { teamId, agentId })).routerId);
    bench = new NotifyBench(storage, clock);
    groupId = await followKinds(storage, teamId, ['*']);
    await seedPerson(storage, teamId, 'ada@example.net', groupId);
  });

  const job = (routerId: string, kind: 'job.failed' | 'job.expired'): NewNotice => ({
    teamId,
    kind,
    phase: 'info',
    severity: 'warning',
    key: `router:${routerId}:jobs`,
    recordId: newId(clock.now()),
    version: 1,
    routerId,
    at: clock.now(),
    data: { description: 'Upgrade' },
  });
  const subjects = (): string[] => bench.server.mails.map(({ kind, subject }) => `${kind} ${subject}`);

  test('failed jobs of many routers are one message that counts jobs and routers, and the next ones another', async () => {
    await bench.facts(routers.flatMap((id) => [job(id, 'job.failed'), job(id, 'job.failed')]));
    await bench.facts([job(routers[0]!, 'job.expired')]);
    await bench.pass(2 * MINUTE);
    bench.restart();
    await bench.facts(routers.slice(1).map((id) => job(id, 'job.expired')));
    await bench.pass(10 * MINUTE);
    expect(subjects()).toEqual(['open 8 routers: 16 jobs failed, 1 job expired', 'open 7 routers: 7 jobs expired']);
    const several = await storage.db.selectFrom('threads').selectAll().where('kind', '=', 'several').orderBy('id').execute();
    expect(several).toMatchObject([
      { item_count: 8, kinds: '["job.failed","job.expired"]', team_id: teamId },
      { item_count: 7, kinds: '["job.expired"]', team_id: teamId },
    ]);
    await bench.pass(120 * MINUTE);
    expect(await storage.db.selectFrom('threads').select('id').where('closed_at', 'is', null).execute()).toEqual([]);
  });

  /** All routers. */
  async function standAtOneSite(): Promise<void> {
    const site = { id: newId(START), team_id: teamId, name: 'Madrid', time_zone: 'Europe/Madrid', created_at: 1 };
    await storage.db.insertInto('sites').values(site).execute();
    await storage.db.updateTable('routers').set({ site_id: site.id }).execute();
  }

  test('a site that comes and goes says so once, and when it is quiet, also with restarts in between', async () => {
    await standAtOneSite();
    const facts = new FaultFacts(storage, clock, bench, teamId);
    for (let n = 0; n < 20; n += 1) {
      await facts.happen(...routers.map((id) => facts.fault('open', id)));
      await bench.pass(2 * MINUTE);
      if (n % 5 === 2) bench.restart();
      await facts.happen(...routers.map((id) => facts.fault('resolve', id)));
      await bench.pass(2 * MINUTE);
    }
    expect(subjects()).toEqual([
      'open Madrid: 8 of 8 routers offline since 13:00',
      'resolve Over: Madrid: 8 of 8 routers offline from 13:00 to 13:02, 2 min',
      'open Madrid: 8 of 8 routers offline since 13:04',
      'resolve Over: Madrid: 8 of 8 routers offline from 13:04 to 13:06, 2 min',
      'open Comes and goes: Madrid: 8 of 8 routers offline since 13:08',
    ]);
    await bench.pass(60 * MINUTE);
    expect(subjects().slice(5)).toEqual([expect.stringMatching(/^resolve Over: Madrid: 8 of 8 routers offline from 13:08 to 14:18/)]);
    await bench.pass(120 * MINUTE);
    expect(await storage.db.selectFrom('threads').select('id').where('closed_at', 'is', null).execute()).toEqual([]);
  });

  /** One router opens for the third time, and stays away. */
  async function opensThreeTimes(): Promise<void> {
    const facts = new FaultFacts(storage, clock, bench, teamId);
    for (let n = 0; n < 3; n += 1) {
      await facts.happen(facts.fault('open', routers[0]!));
      if (n === 2) return;
      await bench.pass(MINUTE);
      await facts.happen(facts.fault('resolve', routers[0]!));
      await bench.pass(MINUTE);
    }
  }
  const mute = (value: 'always' | 'never') => new GroupsService({ storage, clock }).change(teamId, groupId, { mute: value });
  const agentAway = (): NewNotice => ({
    teamId,
    kind: 'fault.agent_offline',
    phase: 'open',
    severity: 'critical',
    key: `agent:${agentId}`,
    recordId: agentId,
    version: 1,
    agentId,
    at: clock.now(),
  });

  test('a router that came and went during a mute is not told besides its agent that is away', async () => {
    await mute('always');
    await opensThreeTimes();
    await bench.pass(MINUTE);
    await mute('never');
    await bench.pass(13 * MINUTE);
    expect(subjects()).toEqual([]);
    await bench.facts([agentAway()]);
    await bench.pass(3 * MINUTE);
    expect(subjects()).toEqual([expect.stringMatching(/^open .*(?:agent|contact)/i)]);
  });

  test('what opens while a storm comes and goes is told by itself, and to its end', async () => {
    const { routerId: other } = await seedRouter(storage, { teamId });
    routers = [];
    for (let n = 0; n < 8; n += 1) routers.push((await seedRouter(storage, { teamId })).routerId);
    const facts = new FaultFacts(storage, clock, bench, teamId);
    const all = async (phase: 'open' | 'resolve', ids: readonly string[]): Promise<void> => {
      await facts.happen(...ids.map((id) => facts.fault(phase, id)));
      await bench.pass(2 * MINUTE);
    };
    const comeAndGo = async (): Promise<void> => {
      await all('open', routers);
      await all('resolve', routers);
    };
    for (let n = 0; n < 3; n += 1) await comeAndGo();
    expect(bench.server.mails.at(-1)!.subject).toContain('Comes and goes');
    const before = subjects().length;
    await all('open', [other]);
    await comeAndGo();
    await all('resolve', [other]);
    expect(bench.server.mails.slice(before).map(({ kind }) => kind)).toEqual(['open', 'resolve']);
    // Many of them are another storm, though this one is open.
    const more: string[] = [];
    for (let n = 0; n < 7; n += 1) more.push((await seedRouter(storage, { teamId })).routerId);
    await all('open', more);
    await comeAndGo();
    await all('resolve', more);
    expect(bench.server.mails.slice(before + 2).map(({ kind }) => kind)).toEqual(['open', 'resolve']);
    const storms = await storage.db.selectFrom('threads').select(['key', 'state']).where('kind', '=', 'storm').orderBy('key').execute();
    expect(storms).toEqual([
      { key: `storm:${groupId}`, state: 'open' },
      { key: `storm:${groupId}:2`, state: 'ended' },
    ]);
  });

  test('routers of an agent without a site are one message, one reminder and one end, also with restarts in between', async () => {
    await storage.db.updateTable('agents').set({ name: 'a-madrid' }).where('id', '=', agentId).execute();
    const facts = new FaultFacts(storage, clock, bench, teamId);
    await facts.happen(...routers.slice(0, 6).map((id) => facts.fault('open', id)));
    await bench.pass(MINUTE);
    bench.restart();
    const [stand] = await storage.db.selectFrom('threads').selectAll().where('kind', '=', 'agent_routers').execute();
    expect(stand).toMatchObject({ key: `agent_routers:${agentId}:router_offline`, agent_id: agentId, site_id: null, item_count: 6 });
    const log = new DeliveryLog({ storage, clock, contacts: { listOwn: async () => [] }, publicUrl: 'https://signalbox.example' });
    const { items } = await log.getThread(teamId, stand!.id);
    expect(new Set(items.map(({ routerId }) => routerId))).toEqual(new Set(routers.slice(0, 6)));
    const [facts0] = await readFacts(storage.db, teamId, [stand!]);
    const view = viewOf(facts0!, { kind: 'open', publicUrl: 'https://signalbox.example', now: clock.now() });
    expect(view.subject).toEqual({
      type: 'agent_routers',
      agent: { id: agentId, name: 'a-madrid' },
      fault: 'router_offline',
      affected: 6,
      of: 8,
    });
    expect(view.url).toBe(`https://signalbox.example/agents/${agentId}`);
    await bench.pass(5 * HOUR);
    await facts.happen(...routers.slice(0, 6).map((id) => facts.fault('resolve', id)));
    bench.restart();
    await bench.pass(120 * MINUTE);
    expect(subjects()).toEqual([
      'open a-madrid: 6 of 8 routers offline since 12:00',
      'reminder Still open: a-madrid: 6 of 8 routers offline since 12:00',
      'resolve Over: a-madrid: 6 of 8 routers offline from 12:00 to 17:01, 5 hr 1 min',
    ]);
    expect(await storage.db.selectFrom('threads').select('id').where('closed_at', 'is', null).execute()).toEqual([]);
  });

  test('a storm of agents’ routers without a site counts and names them', async () => {
    const more: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      const mine = await seedRouter(storage, { teamId });
      await storage.db
        .updateTable('agents')
        .set({ name: `agent ${n}` })
        .where('id', '=', mine.agentId)
        .execute();
      more.push(mine.routerId);
      for (let m = 1; m < 5; m += 1) more.push((await seedRouter(storage, { teamId, agentId: mine.agentId })).routerId);
    }
    const facts = new FaultFacts(storage, clock, bench, teamId);
    await facts.happen(...more.map((id) => facts.fault('open', id)));
    await bench.pass(MINUTE);
    expect(subjects()).toEqual(['open 30 routers affected since 12:00']);
    const storm = await storage.db.selectFrom('threads').selectAll().where('kind', '=', 'storm').executeTakeFirstOrThrow();
    const [read] = await readFacts(storage.db, teamId, [storm]);
    const { rows } = writeText(viewOf(read!, { kind: 'open', publicUrl: '', now: clock.now() }), { locale: 'en', timeZone: 'UTC' });
    expect(rows.toSorted()).toEqual(Array.from({ length: 6 }, (_, n) => `agent ${n}: 5 routers`));
  });

  test('many that were not sent before the next ones come are told as well', async () => {
    const isDown = clock.now() + 30 * MINUTE;
    bench.server.answer = () =>
      clock.now() < isDown ? { outcome: 'retry', error: 'connect_failed', detail: 'no connection' } : { outcome: 'sent' };
    const reboot = (routerId: string): NewNotice => ({
      ...job(routerId, 'job.failed'),
      kind: 'fault.rebooted',
      key: `router:${routerId}:rebooted`,
    });
    await bench.facts(routers.flatMap((id) => [job(id, 'job.failed'), reboot(id)]));
    await bench.pass(10 * MINUTE);
    await bench.facts(routers.slice(1).flatMap((id) => [job(id, 'job.expired'), reboot(id)]));
    await bench.pass(10 * MINUTE);
    await bench.facts(routers.slice(2).flatMap((id) => [job(id, 'job.failed'), reboot(id)]));
    await bench.pass(60 * MINUTE);
    expect(subjects().toSorted()).toEqual([
      'open 6 routers: 6 jobs failed',
      'open 6 routers: rebooted',
      'open 7 routers: 7 jobs expired',
      'open 7 routers: rebooted',
      'open 8 routers: 8 jobs failed',
      'open 8 routers: rebooted',
    ]);
    const several = await storage.db.selectFrom('threads').select('item_count').where('kind', '=', 'several').orderBy('id').execute();
    expect(several.map(({ item_count: count }) => count)).toEqual([8, 8, 7, 7, 6, 6]);
    await bench.pass(120 * MINUTE);
    expect(await storage.db.selectFrom('threads').select('id').where('closed_at', 'is', null).execute()).toEqual([]);
  });

  test('routers of a site that go away one every 4 s are told in two messages and two ends, also with a restart in between', async () => {
    await standAtOneSite();
    const facts = new FaultFacts(storage, clock, bench, teamId);
    const oneByOne = async (phase: 'open' | 'resolve'): Promise<void> => {
      for (const id of routers) {
        await facts.happen(facts.fault(phase, id));
        await bench.pass(4000);
        bench.restart();
      }
    };
    await oneByOne('open');
    await bench.pass(5 * MINUTE);
    const back = clock.now();
    await oneByOne('resolve');
    await bench.pass(5 * MINUTE);
    expect(bench.server.mails.map(({ kind, at }) => [kind, at])).toEqual([
      ['open', START + 3000],
      ['open', START + 28_000 + 15_000],
      ['resolve', back + 10_000],
      ['resolve', back + 28_000 + 10_000],
    ]);
    // With the one that was told before.
    expect(subjects()[1]).toBe('open Madrid: 8 of 8 routers offline since 13:00');
  });

  test('routers of a site that go away one a minute are told as the site from the third on, also with restarts in between', async () => {
    await standAtOneSite();
    const facts = new FaultFacts(storage, clock, bench, teamId);
    for (const id of routers) {
      await facts.happen(facts.fault('open', id));
      await bench.pass(MINUTE);
      bench.restart();
    }
    await bench.pass(5 * MINUTE);
    expect(subjects()).toEqual([
      'open MikroTik (Madrid): offline since 13:00',
      'open MikroTik (Madrid): offline since 13:01',
      'open Madrid: 3 of 8 routers offline since 13:02',
      'update Update: Madrid: 8 of 8 routers offline since 13:02',
    ]);
    for (const id of routers) {
      await facts.happen(facts.fault('resolve', id));
      await bench.pass(MINUTE);
      bench.restart();
    }
    await bench.pass(2 * 60 * MINUTE);
    const ends = bench.server.mails.slice(4).map(({ kind }) => kind);
    expect(ends.filter((kind) => kind === 'resolve')).toHaveLength(3);
    expect(ends.length).toBeLessThanOrEqual(5);
    expect(ends.at(-1)).toBe('resolve');
  });
});
