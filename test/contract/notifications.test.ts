import { beforeEach, describe, expect, test } from 'vitest';
import { groupRoutes } from '../../server/outbound/notifications/groups/routes.ts';
import { GroupsService } from '../../server/outbound/notifications/groups/service.ts';
import { scheduleRoutes } from '../../server/outbound/notifications/schedules/routes.ts';
import { SchedulesService } from '../../server/outbound/notifications/schedules/service.ts';
import { topicRoutes } from '../../server/outbound/notifications/topics/routes.ts';
import { TopicsService } from '../../server/outbound/notifications/topics/service.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { TeamsService } from '../../server/access/teams/service.ts';
import { SitesService } from '../../server/fleet/sites/service.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { makeAddresses } from '../harness/notification-addresses.ts';
import { TeamApp } from '../harness/team-app.ts';
import type { TeamAnswer } from '../harness/team-app.ts';

/** A Monday, 12:00 UTC. */
const START = Date.parse('2026-01-05T12:00:00Z');
const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const officeHours = { name: 'Office', time_zone: 'UTC', windows: [{ day: 'monday', from: 540, to: 1020 }] };

describeEachDatabase('notifications', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let teams: TeamsService;
  let sites: SitesService;
  let app: TeamApp;
  let north: string;
  let south: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    const now = (): number => clock.now();
    teams = new TeamsService({ storage, clock });
    sites = new SitesService({ storage, clock });
    app = new TeamApp((scope) => {
      const { groupAddresses } = makeAddresses({ storage, clock });
      groupRoutes(scope, { groups: new GroupsService({ storage, clock }), groupAddresses, now });
      topicRoutes(scope, { topics: new TopicsService({ storage, clock }) });
      scheduleRoutes(scope, { schedules: new SchedulesService({ storage, clock }), now });
    });
    north = (await teams.createTeam('North')).id;
    south = (await teams.createTeam('South')).id;
  });

  test('a team has at most 200 topics, schedules and groups, also when the last are made at the same time', async () => {
    const makers = {
      topics: (name: string) => new TopicsService({ storage, clock }).create(north, { name, events: ['router.offline'] }),
      schedules: (name: string) => new SchedulesService({ storage, clock }).create(north, { name, timeZone: 'UTC', windows: [] }),
      groups: (name: string) => new GroupsService({ storage, clock }).create(north, { name }),
    };
    for (const make of Object.values(makers)) {
      for (let i = 0; i < 198; i += 1) await make(`n${i}`);
      const last = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => make(`last ${i}`)));
      expect(last.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    }
  });

  async function made(teamId: string, url: string, body: object): Promise<string> {
    const answer = await app.ask(teamId, 'POST', url, body);
    expect(answer.status).toBe(200);
    return ((answer.body['data'] ?? answer.body) as { id: string }).id;
  }
  const topic = (name = 'Outages', teamId = north): Promise<string> => made(teamId, '/api/topics', { name });
  const schedule = (teamId = north): Promise<string> => made(teamId, '/api/schedules', officeHours);
  const group = (body: object = {}, teamId = north): Promise<string> => made(teamId, '/api/groups', { name: 'On call', ...body });
  const site = async (name = 'Depot', teamId = north): Promise<string> => (await sites.create({ teamId, name })).id;
  /** Without hashing a password: nobody logs in here. */
  async function member(email: string, teamId = north): Promise<string> {
    const id = newId(START);
    await storage.db.insertInto('users').values({ id, email, password_hash: null, created_at: START }).execute();
    await storage.db.insertInto('members').values({ team_id: teamId, user_id: id, role: 'admin', active: 1, created_at: START }).execute();
    return id;
  }
  const put = (id: string, body: object, teamId = north): Promise<TeamAnswer> => app.ask(teamId, 'PUT', `/${id}`, body);
  const read = async (id: string): Promise<Record<string, unknown>> => (await app.get(north, `/api/groups/${id}`)).body;

  describe('PUT /{group}', () => {
    test('replaces what is given and answers the whole group, bare', async () => {
      const [ada, eve] = [await member('ada@example.org'), await member('eve@example.org')];
      const id = await group();
      clock.advance(1000);
      const all = {
        name: 'Night shift',
        schedule_id: await schedule(),
        mute: 'schedule-active',
        recipients: [eve, ada],
        notifiables: [
          { id: ada, channel: 'whatsapp' },
          { id: eve, channel: 'email' },
          { id: ada, channel: 'sms' },
        ],
        topics: [await topic('b'), await topic('a')],
        sites: [await site()],
      };
      const answer = await put(id, all);
      expect(answer).toMatchObject({ status: 200 });
      expect(answer.body).toEqual({
        ...all,
        id,
        created_at: new Date(START).toISOString(),
        updated_at: new Date(START + 1000).toISOString(),
        targets: [],
        escalate_after_minutes: null,
        escalate_to: null,
        muted_now: false,
        reaches: 0,
      });
      expect(await read(id)).toEqual(answer.body);
    });

    test('keeps what is not given', async () => {
      const ada = await member('ada@example.org');
      const id = await group({ recipients: [ada], sites: [await site()], mute: 'always' });
      const before = await read(id);
      const after = await put(id.toUpperCase(), { name: 'Renamed', sites: [] });
      expect(after.body).toEqual({ ...before, name: 'Renamed', sites: [] });
      expect((await put(id, {})).body).toEqual(after.body);
    });

    test('a schedule can be taken away', async () => {
      const id = await group({ schedule_id: await schedule() });
      expect((await put(id, { schedule_id: null })).body).toMatchObject({ schedule_id: null });
    });

    test('repetitions are dropped', async () => {
      const ada = await member('ada@example.org');
      const email = { id: ada, channel: 'email' };
      const answer = await put(await group(), {
        recipients: [ada, ada.toUpperCase()],
        notifiables: [email, { id: ada, channel: 'sms' }, email],
      });
      expect(answer.body).toMatchObject({ recipients: [ada], notifiables: [email, { id: ada, channel: 'sms' }] });
    });

    test('is muted by its schedule while that is inactive', async () => {
      const id = await group({ schedule_id: await schedule(), mute: 'schedule-active' });
      expect(await read(id)).toMatchObject({ muted_now: false });
      clock.advance(6 * 3_600_000);
      expect(await read(id)).toMatchObject({ muted_now: true });
      expect((await put(id, { mute: 'schedule-inactive' })).body).toMatchObject({ muted_now: false });
    });

    test('what is not the team’s is refused, every field by name, and nothing changes', async () => {
      const id = await group();
      const before = await read(id);
      const eve = await member('eve@example.org', south);
      const answer = await put(id, {
        name: 'Renamed',
        recipients: [eve],
        notifiables: [{ id: eve, channel: 'email' }],
        topics: [await topic('x', south)],
        sites: [await site('x', south)],
        schedule_id: await schedule(south),
      });
      expect(answer).toMatchObject({ status: 422, body: { code: 'invalid' } });
      expect(Object.keys(answer.body['errors'] as object).sort()).toEqual(['notifiables', 'recipients', 'schedule_id', 'sites', 'topics']);
      expect(await read(id)).toEqual(before);
    });

    test('a member who is switched off is none, and comes back when switched on', async () => {
      await member('root@example.org');
      const ada = await member('ada@example.org');
      const id = await group({ recipients: [ada], notifiables: [{ id: ada, channel: 'push' }] });
      await teams.changeMember(north, ada, { active: false });
      expect(await read(id)).toMatchObject({ recipients: [], notifiables: [] });
      expect(await put(id, { recipients: [ada] })).toMatchObject({
        status: 422,
        body: { errors: { recipients: [`${ada} is not an active member of this team`] } },
      });
      await teams.changeMember(north, ada, { active: true });
      expect(await read(id)).toMatchObject({ recipients: [ada], notifiables: [{ id: ada, channel: 'push' }] });
    });

    test.each([
      ['name', { name: '' }],
      ['name', { name: 'x'.repeat(101) }],
      ['mute', { mute: 'sometimes' }],
      ['schedule_id', { schedule_id: 'x' }],
      ['recipients.0', { recipients: ['x'] }],
      ['recipients', { recipients: Array.from({ length: 201 }, () => UNKNOWN) }],
      ['notifiables', { notifiables: Array.from({ length: 201 }, () => ({ id: UNKNOWN, channel: 'sms' })) }],
      ['notifiables.0.channel', { notifiables: [{ id: UNKNOWN, channel: 'pigeon' }] }],
      ['topics', { topics: Array.from({ length: 21 }, () => UNKNOWN) }],
      ['sites', { sites: Array.from({ length: 801 }, () => UNKNOWN) }],
    ])('%s is refused by name', async (field, body) => {
      expect(await put(await group(), body)).toMatchObject({ status: 422, body: { errors: { [field]: [expect.any(String)] } } });
    });

    test('800 sites and 20 topics fit', async () => {
      const sites = Array.from({ length: 800 }, (_, index) => ({
        id: newId(START),
        team_id: north,
        name: `site ${index}`,
        time_zone: null,
        latitude: null,
        longitude: null,
        created_at: 1,
      }));
      await storage.db.insertInto('sites').values(sites).execute();
      const ids = sites.map(({ id }) => id);
      const topics: string[] = [];
      for (let index = 0; index < 20; index += 1) topics.push(await topic(`topic ${index}`));
      expect(await put(await group(), { sites: ids, topics })).toMatchObject({ status: 200, body: { sites: ids, topics } });
    });

    test('an unknown group and one of another team are 404, whatever is sent', async () => {
      const id = await group();
      expect(await put(UNKNOWN, { name: 'x' })).toMatchObject({ status: 404, body: { code: 'not_found', detail: 'group not found' } });
      expect(await put(id, { topics: [UNKNOWN] }, south)).toMatchObject({ status: 404, body: { detail: 'group not found' } });
    });

    test('other bare paths stay unknown, and this one takes no other method', async () => {
      const id = await group();
      for (const url of ['/x', '/groups', `/${id}x`, `/${id}/x`, '/', `/%20${id}`]) {
        expect(await app.ask(north, 'PUT', url, {}), url).toMatchObject({ status: 404, body: { detail: `no route PUT ${url}` } });
      }
      for (const method of ['GET', 'POST', 'PATCH', 'DELETE'] as const) {
        expect(await app.ask(north, method, `/${id}`), method).toMatchObject({
          status: 405,
          body: { detail: `/${id} takes PUT, not ${method}` },
        });
      }
    });

    test('changes of one group at once leave one of them whole', async () => {
      const id = await group();
      const lists = await Promise.all(['a', 'b', 'c', 'd'].map(async (name) => [await topic(name), await topic(`${name}2`)]));
      const answers = await Promise.all(lists.map((topics) => put(id, { topics })));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(lists).toContainEqual((await read(id))['topics']);
    });
  });

  describe('groups', () => {
    test('are created, listed newest first and deleted', async () => {
      const first = await group({ name: 'first' });
      clock.advance(1000);
      const second = await group({ name: 'second', topics: [await topic()] });
      expect(await read(first)).toMatchObject({
        name: 'first',
        schedule_id: null,
        mute: 'never',
        recipients: [],
        notifiables: [],
        topics: [],
        sites: [],
      });
      const list = await app.get(north, '/api/groups');
      expect(list.body).toEqual({ status: 'success', data: [await read(second), await read(first)] });
      expect((await app.get(north, '/api/groups?limit=1')).headers['link']).toMatch(/rel="next"/);
      expect(await app.ask(south, 'DELETE', `/api/groups/${second}`)).toMatchObject({ status: 404 });
      expect(await app.ask(north, 'DELETE', `/api/groups/${second}`)).toMatchObject({ status: 204 });
      expect(await app.get(north, `/api/groups/${second}`)).toMatchObject({ status: 404 });
    });

    test('what is deleted leaves every group', async () => {
      const [topicId, kept, siteId, scheduleId] = [await topic('gone'), await topic('kept'), await site(), await schedule()];
      const id = await group({ topics: [topicId, kept], sites: [siteId], schedule_id: scheduleId, mute: 'schedule-active' });
      await app.ask(north, 'DELETE', `/api/topics/${topicId}`);
      await app.ask(north, 'DELETE', `/api/schedules/${scheduleId}`);
      await sites.delete(north, siteId);
      expect(await read(id)).toMatchObject({ topics: [kept], sites: [], schedule_id: null, muted_now: false });
    });

    test('of another team are not seen', async () => {
      const id = await group();
      expect(await app.get(south, `/api/groups/${id}`)).toMatchObject({ status: 404 });
      expect((await app.get(south, '/api/groups')).body['data']).toEqual([]);
    });

    test('need a name', async () => {
      expect(await app.ask(north, 'POST', '/api/groups', {})).toMatchObject({
        status: 422,
        body: { errors: { name: [expect.any(String)] } },
      });
    });
  });

  describe('topics', () => {
    test('are created, changed, listed and deleted', async () => {
      const created = await app.ask(north, 'POST', '/api/topics', { name: 'Outages', events: ['fault.router_offline', 'job.*', '*'] });
      const { id } = created.body['data'] as { id: string };
      clock.advance(1000);
      const changed = await app.ask(north, 'PATCH', `/api/topics/${id}`, { name: 'All' });
      expect(changed.body['data']).toEqual({
        ...(created.body['data'] as object),
        name: 'All',
        updated_at: new Date(START + 1000).toISOString(),
      });
      expect((await app.get(north, '/api/topics')).body['data']).toEqual([changed.body['data']]);
      expect((await app.get(north, `/api/topics/${id}`)).body).toEqual(changed.body);
      expect(await app.ask(north, 'DELETE', `/api/topics/${id}`)).toMatchObject({ status: 204 });
      expect(await app.get(north, `/api/topics/${id}`)).toMatchObject({ status: 404 });
    });

    test.each([
      ['events.0', { name: 'x', events: ['Fault'] }],
      ['events.0', { name: 'x', events: ['fault.*.x'] }],
      ['events', { name: 'x', events: Array.from({ length: 51 }, () => 'a') }],
      ['name', { events: [] }],
    ])('%s is refused by name', async (field, body) => {
      expect(await app.ask(north, 'POST', '/api/topics', body)).toMatchObject({
        status: 422,
        body: { errors: { [field]: [expect.any(String)] } },
      });
    });

    test('two of a team cannot have the same name', async () => {
      await topic('Outages');
      const other = await topic('Jobs');
      expect(await app.ask(north, 'POST', '/api/topics', { name: 'Outages' })).toMatchObject({ status: 409 });
      expect(await app.ask(north, 'PATCH', `/api/topics/${other}`, { name: 'Outages' })).toMatchObject({ status: 409 });
      await topic('Outages', south);
    });
  });

  describe('schedules', () => {
    test('are created, changed, listed and deleted', async () => {
      const created = await app.ask(north, 'POST', '/api/schedules', { ...officeHours, time_zone: 'utc' });
      expect(created.body['data']).toMatchObject({ ...officeHours, active_now: true });
      const { id } = created.body['data'] as { id: string };
      const changed = await app.ask(north, 'PATCH', `/api/schedules/${id}`, { windows: [{ day: 'friday', from: 1320, to: 360 }] });
      expect(changed.body['data']).toMatchObject({
        name: 'Office',
        time_zone: 'UTC',
        windows: [{ day: 'friday', from: 1320, to: 360 }],
        active_now: false,
      });
      expect((await app.get(north, '/api/schedules')).body['data']).toEqual([changed.body['data']]);
      expect((await app.get(north, `/api/schedules/${id}`)).body).toEqual(changed.body);
      expect(await app.ask(north, 'DELETE', `/api/schedules/${id}`)).toMatchObject({ status: 204 });
      expect(await app.get(north, `/api/schedules/${id}`)).toMatchObject({ status: 404 });
    });

    test.each([
      ['time_zone', { time_zone: 'Mars/Olympus' }],
      ['time_zone', { time_zone: '+01:00' }],
      ['windows.0.day', { windows: [{ day: 'someday', from: 0, to: 1 }] }],
      ['windows.0.from', { windows: [{ day: 'monday', from: 1440, to: 1 }] }],
      ['windows.0.to', { windows: [{ day: 'monday', from: 0, to: 0 }] }],
      ['windows', { windows: Array.from({ length: 50 }, () => ({ day: 'monday', from: 0, to: 1 })) }],
    ])('%s is refused by name', async (field, body) => {
      const answer = await app.ask(north, 'POST', '/api/schedules', { ...officeHours, ...body });
      expect(answer).toMatchObject({ status: 422, body: { errors: { [field]: [expect.any(String)] } } });
      const id = await schedule();
      expect(await app.ask(north, 'PATCH', `/api/schedules/${id}`, body)).toMatchObject({ status: 422 });
    });
  });

  test.each(['topics', 'schedules'])('%s of another team do not exist', async (kind) => {
    const id = kind === 'topics' ? await topic() : await schedule();
    for (const [method, body] of [['GET'], ['PATCH', { name: 'Mine' }], ['DELETE']] as const) {
      expect(await app.ask(south, method, `/api/${kind}/${id}`, body), method).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
    expect((await app.get(south, `/api/${kind}`)).body['data']).toEqual([]);
  });

  test.each([
    ['PUT', `/${UNKNOWN}`],
    ['POST', '/api/groups'],
    ['DELETE', `/api/groups/${UNKNOWN}`],
    ['POST', '/api/topics'],
    ['PATCH', `/api/topics/${UNKNOWN}`],
    ['DELETE', `/api/topics/${UNKNOWN}`],
    ['POST', '/api/schedules'],
    ['PATCH', `/api/schedules/${UNKNOWN}`],
    ['DELETE', `/api/schedules/${UNKNOWN}`],
  ] as const)('%s %s is for administrators', async (method, url) => {
    for (const role of ['viewer', 'operator', 'admin'] as const) {
      const { status } = await app.ask(north, method, url, method === 'DELETE' ? undefined : {}, role);
      expect(status === 403, role).toBe(role !== 'admin');
    }
  });
});
