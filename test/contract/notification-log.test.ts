import { beforeEach, describe, expect, test } from 'vitest';
import { TeamsService } from '../../server/access/teams/service.ts';
import { SitesService } from '../../server/fleet/sites/service.ts';
import { insertOptout } from '../../server/outbound/notifications/contacts/store.ts';
import { GroupsService } from '../../server/outbound/notifications/groups/service.ts';
import { logRoutes } from '../../server/outbound/notifications/log/messages/routes.ts';
import { DeliveryLog } from '../../server/outbound/notifications/log/service.ts';
import { threadRoutes } from '../../server/outbound/notifications/log/threads/routes.ts';
import { ProvedAddresses } from '../../server/outbound/notifications/messages/addresses.ts';
import { TopicsService } from '../../server/outbound/notifications/topics/service.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { acknowledgeRoutes } from '../../server/outbound/notifications/threads/acknowledging/routes.ts';
import type { NewNotice } from '../../server/platform/notices/types.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { makeAddresses } from '../harness/notification-addresses.ts';
import { NotifyBench } from '../harness/notify-bench.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { TeamApp } from '../harness/team-app.ts';
import type { TeamAnswer } from '../harness/team-app.ts';

const MINUTE = 60_000;
/** A Monday. */
const START = Date.parse('2026-01-05T12:00:00Z');

type Row = Record<string, unknown> & { id: string };

describeEachDatabase('the delivery log', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let app: TeamApp;
  let bench: NotifyBench;
  let mine: SeededRouter;
  let ada: string;
  let bob: string;
  let group: string;
  let site: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    mine = await seedRouter(storage);
    const made = makeAddresses({ storage, clock });
    bench = new NotifyBench(storage, clock, new ProvedAddresses(made.groupAddresses, made.messageLinks));
    const { contacts } = made;
    const deliveryLog = new DeliveryLog({ storage, clock, contacts, publicUrl: 'https://signalbox.example' });
    app = new TeamApp((scope) => {
      threadRoutes(scope, { deliveryLog });
      logRoutes(scope, { deliveryLog });
      acknowledgeRoutes(scope, { deliveryLog, threads: bench.threads });
    });
    site = (await new SitesService({ storage, clock }).create({ teamId: mine.teamId, name: 'Depot', timeZone: 'Europe/Madrid' })).id;
    await storage.db.updateTable('routers').set({ site_id: site, identity: 'core-1' }).where('id', '=', mine.routerId).execute();
    ada = await person('ada@example.org');
    bob = await person('bob@example.org');
    await new TeamsService({ storage, clock }).confirmEmail('ada@example.org');
    const { teamId } = mine;
    const topics = [(await new TopicsService({ storage, clock }).create(teamId, { name: 'All', events: ['*'] })).id];
    group = (await new GroupsService({ storage, clock }).create(teamId, { name: 'Ops', recipients: [ada, bob], topics })).id;
  });

  const person = async (email: string): Promise<string> =>
    (await new TeamsService({ storage, clock }).createUser({ teamId: mine.teamId, email, role: 'viewer' })).member.userId;
  const as = (role: string, url: string, teamId = mine.teamId): Promise<TeamAnswer> =>
    app.ask(teamId, 'GET', url, undefined, role as 'viewer');
  const list = async (url: string): Promise<Row[]> => {
    const answer = await app.get(mine.teamId, url);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body['data'] as Row[];
  };

  function fault(type: string, phase: 'open' | 'resolve', routerId = mine.routerId): NewNotice {
    const recordId = `${routerId} ${type}`;
    return {
      teamId: mine.teamId,
      kind: `fault.${type}`,
      phase,
      severity: 'critical',
      key: `router:${routerId}:${type}`,
      recordId,
      version: phase === 'open' ? 1 : 2,
      routerId,
      at: clock.now(),
      data: { message: 'm', cause: 'ether1 has no link' },
    };
  }

  const faultRow = async (type: string, routerId = mine.routerId): Promise<void> => {
    const times = { created_at: clock.now(), updated_at: clock.now(), resolved_at: null };
    const fields = { team_id: mine.teamId, router_id: routerId, type, severity: 'critical', message: '', cause: '', occurrences: 1 };
    await storage.db
      .insertInto('faults')
      .values({ id: `${routerId} ${type}`, ...fields, ...times })
      .execute();
  };

  async function happen(type: string): Promise<void> {
    await faultRow(type);
    await bench.facts([fault(type, 'open')]);
    await bench.pass(MINUTE);
  }

  test('says of each person what they got, or why they did not', async () => {
    await happen('wan_down');
    const [second, first] = await list('/api/notifications');
    const rows = [first!, second!].toSorted((one, other) => (one['user_id'] === ada ? -1 : other['user_id'] === ada ? 1 : 0));
    expect(rows[0]).toMatchObject({
      group_id: group,
      group: 'Ops',
      user_id: ada,
      target_id: null,
      channel: 'email',
      address: 'a•••@example.org',
      kind: 'open',
      subject: bench.server.mails[0]!.subject,
      state: 'sent',
      reason: null,
      router_id: mine.routerId,
      thread_kind: 'fault.wan_down',
      attempts: [{ outcome: 'sent', error: null, detail: null }],
      next_attempt_at: null,
    });
    expect(rows[1]).toMatchObject({
      user_id: bob,
      address: 'b•••@example.org',
      state: 'withheld',
      reason: 'unverified',
      // What Ada got: nobody has chosen a language or a time zone.
      subject: bench.server.mails[0]!.subject,
      attempts: [],
    });
    expect(rows[0]!['subject']).toBe('core-1 (Depot): WAN down since 13:00');
    expect(rows.map(({ subject_time_zone: zone }) => zone)).toEqual(['Europe/Madrid', 'Europe/Madrid']);
  });

  test('has its times in the zone that is asked for, except in what was sent, which stays as it was said', async () => {
    await happen('wan_down');
    const tokyo = 'time_zone=Asia%2FTokyo';
    const there = 'core-1 (Depot): WAN down since 21:00';
    const [thread] = await list(`/api/threads?${tokyo}`);
    expect(thread!['subject']).toBe(there);
    expect((await app.get(mine.teamId, `/api/threads/${thread!.id}?${tokyo}`)).body['data']).toMatchObject({ subject: there });
    for (const path of [`/api/notifications?${tokyo}`, `/api/threads/${thread!.id}/messages?${tokyo}`]) {
      const messages = await list(path);
      const { subject } = bench.server.mails[0]!;
      expect(
        messages.find(({ state }) => state === 'withheld'),
        'what others were told',
      ).toMatchObject({ subject, subject_time_zone: 'Europe/Madrid' });
      expect(
        messages.find(({ state }) => state === 'sent'),
        path,
      ).toMatchObject({ subject, subject_time_zone: 'Europe/Madrid' });
    }
  });

  test('has the times of the site when the zone is none that the control plane knows, and refuses what is no name of a zone', async () => {
    await happen('wan_down');
    const [thread] = await list('/api/threads');
    // A browser may be newer than the control plane.
    const later = 'time_zone=Mars%2FNew_Base-2';
    for (const path of ['/api/threads', `/api/threads/${thread!.id}`, '/api/notifications', `/api/threads/${thread!.id}/messages`]) {
      const known = await app.get(mine.teamId, path);
      expect(await app.get(mine.teamId, `${path}?${later}`), path).toMatchObject({ status: 200, body: { data: known.body['data'] } });
      for (const name of ['+01:00', '1', '', 'Europe/', 'Europe//Madrid', 'Europe/Madrid ', 'Europe/Mad"rid', '/Madrid']) {
        const refused = await app.get(mine.teamId, `${path}?time_zone=${encodeURIComponent(name)}`);
        expect(refused.status, `${path} ${name}`).toBe(422);
        expect(refused.body['errors'], path).toEqual({ time_zone: ['is not an IANA time zone'] });
      }
    }
  });

  test('shows whole addresses to their owners only', async () => {
    await happen('wan_down');
    const seenBy = async (who: string): Promise<string[]> =>
      ((await as(`viewer/${who}`, '/api/notifications')).body['data'] as Row[]).map(({ address }) => String(address)).toSorted();
    expect(await seenBy(ada)).toEqual(['ada@example.org', 'b•••@example.org']);
    expect(await seenBy(bob)).toEqual(['a•••@example.org', 'bob@example.org']);
  });

  test('keeps what was said, and what the provider answered', async () => {
    bench.server.answer = () => ({ outcome: 'retry', error: 'unavailable', detail: '451 try again later' });
    await happen('wan_down');
    const [waiting] = await list(`/api/notifications?recipient=${ada}`);
    expect(waiting).toMatchObject({ state: 'pending', reason: null, subject: 'core-1 (Depot): WAN down since 13:00' });
    expect(waiting!['next_attempt_at']).not.toBeNull();
    const attempts = waiting!['attempts'] as Row[];
    expect(attempts.length).toBeGreaterThan(1);
    expect(attempts.every(({ error, detail }) => error === 'unavailable' && detail === '451 try again later')).toBe(true);
    const times = attempts.map(({ at }) => String(at));
    expect(times).toEqual(times.toSorted());
    bench.server.answer = () => ({ outcome: 'sent' });
    await bench.pass(5 * MINUTE);
    await storage.db.updateTable('routers').set({ identity: 'renamed' }).where('id', '=', mine.routerId).execute();
    const [sent, unsent] = (await list('/api/notifications')).toSorted((one) => (one['user_id'] === ada ? -1 : 1));
    expect(sent).toMatchObject({ state: 'sent', subject: 'core-1 (Depot): WAN down since 13:00' });
    expect(unsent, 'what others were told').toMatchObject({ state: 'withheld', subject: 'core-1 (Depot): WAN down since 13:00' });
  });

  test('says how it is now where nobody was told, or nobody in English', async () => {
    await storage.db.updateTable('users').set({ locale: 'de' }).where('id', '=', ada).execute();
    await happen('wan_down');
    expect(bench.server.mails).toMatchObject([{ subject: expect.stringContaining('seit') }]);
    const unsent = async (): Promise<Row> => (await list(`/api/notifications?recipient=${bob}&time_zone=Asia%2FTokyo`))[0]!;
    expect(await unsent()).toMatchObject({ subject: 'core-1 (Depot): WAN down since 21:00', subject_time_zone: 'Asia/Tokyo' });
    await storage.db.updateTable('routers').set({ identity: 'renamed' }).where('id', '=', mine.routerId).execute();
    expect(await unsent()).toMatchObject({ subject: 'renamed (Depot): WAN down since 21:00' });
  });

  test('finds by recipient, state, reason, group, channel, router and time, counts, and goes page by page', async () => {
    await happen('wan_down');
    clock.advance(10 * MINUTE);
    await happen('high_cpu');
    await insertOptout(storage.db, { teamId: mine.teamId, userId: ada, id: newId(START), scope: 'all', scopeId: '', at: START });
    clock.advance(10 * MINUTE);
    await happen('temperature');
    const found = async (query: string): Promise<string[]> =>
      (await list(`/api/notifications?${query}`)).map(
        (row) => `${String(row['thread_kind']).slice(6)} ${row['user_id'] === ada ? 'ada' : 'bob'}`,
      );
    expect(await found(`recipient=${ada}`)).toEqual(['temperature ada', 'high_cpu ada', 'wan_down ada']);
    expect(await found('state=sent')).toEqual(['high_cpu ada', 'wan_down ada']);
    expect(await found('state=!sent&reason=!unverified')).toEqual(['temperature ada']);
    expect(await found('reason=unsubscribed')).toEqual(['temperature ada']);
    expect((await found('reason=unsubscribed,unverified')).length).toBe(4);
    expect((await found(`group_id=${group}`)).length).toBe(6);
    expect(await found(`group_id=${newId(1)}`)).toEqual([]);
    expect((await found('channel=email')).length).toBe(6);
    expect(await found('channel=slack')).toEqual([]);
    expect((await found(`router_id=${mine.routerId}`)).length).toBe(6);
    expect(await found(`router_id=${newId(1)}`)).toEqual([]);
    expect((await found(`from=${new Date(START + 5 * MINUTE).toISOString()}`)).length).toBe(4);
    const first = await app.get(mine.teamId, '/api/notifications?limit=4&total=true&fields=id,state');
    expect(first.body).toMatchObject({ total: 6, total_is_exact: true });
    const next = /<(.*)>; rel="next"/.exec(String(first.headers['link']))![1]!;
    const ids = [...(first.body['data'] as Row[]), ...(await list(next))].map(({ id }) => id);
    expect(new Set(ids).size).toBe(6);
    expect(ids).toEqual((await list('/api/notifications')).map(({ id }) => id));
    for (const wrong of ['state=lost', 'reason=tired', 'reason=!tired', 'channel=pigeon', 'recipient=ada'])
      expect((await as('viewer', `/api/notifications?${wrong}`)).body, wrong).toMatchObject({
        errors: { [wrong.slice(0, wrong.indexOf('='))]: [expect.any(String)] },
      });
    expect((await as('viewer', '/api/threads?kind=fault.tired')).status).toBe(422);
    expect((await as('viewer', '/api/threads?kind=!fault.wan_down,!storm')).status).toBe(200);
  });

  describe('of threads', () => {
    test('lists what each group sees as one thing, with what is in it and its messages', async () => {
      await happen('wan_down');
      const [thread] = await list('/api/threads');
      expect(thread).toMatchObject({
        group_id: group,
        group: 'Ops',
        kind: 'fault.wan_down',
        severity: 'critical',
        state: 'open',
        subject: 'core-1 (Depot): WAN down since 13:00',
        router_id: mine.routerId,
        site_id: site,
        parent_id: null,
        open_count: 1,
        item_count: 1,
        closed_at: null,
        acknowledged_at: null,
      });
      const one = await app.get(mine.teamId, `/api/threads/${thread!.id}`);
      expect(one.body['data']).toEqual({
        ...thread,
        items: [
          {
            id: `${mine.routerId} wan_down`,
            type: 'record',
            kind: 'fault.wan_down',
            severity: 'critical',
            router_id: mine.routerId,
            agent_id: null,
            site_id: site,
            name: 'core-1',
            detail: 'ether1 has no link',
            opened_at: new Date(START).toISOString(),
            closed_at: null,
          },
        ],
      });
      const messages = await list(`/api/threads/${thread!.id}/messages`);
      expect(messages).toEqual(await list('/api/notifications'));
      await bench.facts([fault('wan_down', 'resolve')]);
      await bench.pass(MINUTE);
      const [ended] = await list('/api/threads?state=closed');
      expect(ended).toMatchObject({ id: thread!.id, subject: 'Over: core-1 (Depot): WAN down from 13:00 to 13:01, 1 min', open_count: 0 });
      expect(await list('/api/threads?state=open')).toEqual([]);
      const all = await app.get(mine.teamId, `/api/threads/${thread!.id}/messages?limit=3`);
      const next = /<(.*)>; rel="next"/.exec(String(all.headers['link']))![1]!;
      expect((all.body['data'] as Row[]).map(({ kind }) => kind).slice(0, 2)).toEqual(['resolve', 'resolve']);
      expect(await list(next)).toHaveLength(1);
    });

    test('lists threads in the one that stands for them, and finds by state, group, router, site and kind', async () => {
      const routers = [mine.routerId];
      for (let n = 0; n < 5; n += 1) routers.push((await seedRouter(storage, mine)).routerId);
      await storage.db.updateTable('routers').set({ site_id: site }).where('team_id', '=', mine.teamId).execute();
      for (const id of routers) await faultRow('wan_down', id);
      await bench.facts(routers.map((id) => fault('wan_down', 'open', id)));
      await bench.pass(MINUTE);
      const [parent] = await list('/api/threads?kind=site');
      expect(parent).toMatchObject({
        kind: 'site',
        site_id: site,
        router_id: null,
        open_count: 6,
        subject: expect.stringContaining('Depot: 6 of 6'),
      });
      expect(await list(`/api/threads?parent_id=${parent!.id}`)).toHaveLength(6);
      const { items } = (await app.get(mine.teamId, `/api/threads/${parent!.id}`)).body['data'] as { items: Row[] };
      expect(items).toHaveLength(6);
      expect(items.every(({ type, closed_at: at }) => type === 'thread' && at === null)).toBe(true);
      expect(await list(`/api/threads?router_id=${routers[3]}`)).toMatchObject([{ router_id: routers[3], parent_id: parent!.id }]);
      expect(await list(`/api/threads?site_id=${site}`)).toHaveLength(7);
      expect(await list(`/api/threads?site_id=${newId(1)}`)).toEqual([]);
      expect(await list(`/api/threads?group_id=${group}&kind=fault.wan_down`)).toHaveLength(6);
      expect(await list('/api/threads?kind=!site&state=open&total=true')).toHaveLength(6);
    });

    test('are taken over, for good or for a time', async () => {
      await happen('wan_down');
      const [thread] = await list('/api/threads');
      const url = `/api/threads/${thread!.id}/acknowledge`;
      const post = (body: object, role = `operator/${ada}`): Promise<TeamAnswer> =>
        app.ask(mine.teamId, 'POST', url, body, role as 'operator');
      const until = new Date(clock.now() + 10 * MINUTE).toISOString();
      const taken = await post({ until });
      expect(taken.status, JSON.stringify(taken.body)).toBe(200);
      const now = new Date(clock.now()).toISOString();
      const who = { acknowledged_at: now, acknowledged_by: 'ada@example.org', acknowledged_until: until };
      expect(taken.body['data']).toEqual({ ...thread, ...who });
      expect((await list('/api/threads'))[0]).toMatchObject(who);
      expect((await post({})).body['data']).toMatchObject({ acknowledged_until: null });
      expect(await post({ until: new Date(START - 1).toISOString() })).toMatchObject({
        status: 422,
        body: { errors: { until: [expect.any(String)] } },
      });
      expect((await post({}, 'viewer')).status).toBe(403);
      await bench.facts([fault('wan_down', 'resolve')]);
      await bench.pass(MINUTE);
      expect(await post({})).toMatchObject({ status: 409, body: { code: 'conflict' } });
    });

    test('of another team do not exist', async () => {
      await happen('wan_down');
      const other = (await new TeamsService({ storage, clock }).createTeam('Other')).id;
      const [thread] = await list('/api/threads');
      for (const path of ['', '/messages'])
        expect(await as('admin', `/api/threads/${thread!.id}${path}`, other)).toMatchObject({ status: 404, body: { code: 'not_found' } });
      const url = `/api/threads/${thread!.id}/acknowledge`;
      expect(await app.ask(other, 'POST', url, {})).toMatchObject({ status: 404, body: { code: 'not_found' } });
      for (const path of ['/api/threads', '/api/notifications', `/api/notifications?recipient=${ada}`])
        expect((await as('admin', path, other)).body['data']).toEqual([]);
    });
  });
});
