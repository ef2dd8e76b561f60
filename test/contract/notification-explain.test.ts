import { beforeEach, expect, test } from 'vitest';
import { TeamsService } from '../../server/access/teams/service.ts';
import { FAULT_SEVERITY } from '../../server/fleet/faults/types.ts';
import { SitesService } from '../../server/fleet/sites/service.ts';
import { insertOptout } from '../../server/outbound/notifications/contacts/store.ts';
import { explainRoutes } from '../../server/outbound/notifications/explain/routes.ts';
import { Explainer } from '../../server/outbound/notifications/explain/service.ts';
import { GroupsService } from '../../server/outbound/notifications/groups/service.ts';
import { logRoutes } from '../../server/outbound/notifications/log/messages/routes.ts';
import { DeliveryLog } from '../../server/outbound/notifications/log/service.ts';
import { ProvedAddresses } from '../../server/outbound/notifications/messages/addresses.ts';
import { SchedulesService } from '../../server/outbound/notifications/schedules/service.ts';
import { SilencesService } from '../../server/outbound/notifications/silences/service.ts';
import { TopicsService } from '../../server/outbound/notifications/topics/service.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { NewNotice } from '../../server/platform/notices/types.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { makeAddresses } from '../harness/notification-addresses.ts';
import type { Addresses } from '../harness/notification-addresses.ts';
import { NotifyBench } from '../harness/notify-bench.ts';
import { seedRouter, seedTeam } from '../harness/seed.ts';
import { TeamApp } from '../harness/team-app.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Not near a full hour, when mutes, silences and quiet hours begin and end. */
const START = Date.parse('2026-01-05T12:30:00Z');
const FACTS = 100;

const KINDS = [
  'fault.wan_down',
  'fault.high_cpu',
  'fault.router_offline',
  'fault.rebooted',
  'job.failed',
  'config.changed',
  'forward.created',
] as const;
type Kind = (typeof KINDS)[number];

interface ExplainedGroup {
  group_id: string;
  hears: boolean;
  reason: string | null;
  recipients: { user_id: string | null; target_id: string | null; channel: string; state: string; reason: string | null }[];
}

describeEachDatabase('explain', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let app: TeamApp;
  let bench: NotifyBench;
  let made: Addresses;
  let teamId: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    made = makeAddresses({ storage, clock });
    bench = new NotifyBench(storage, clock, new ProvedAddresses(made.groupAddresses, made.messageLinks));
    ({ teamId } = await seedTeam(storage));
    const explainer = new Explainer({ storage, clock, messages: bench.messages });
    const deliveryLog = new DeliveryLog({ storage, clock, contacts: made.contacts, publicUrl: 'https://signalbox.example' });
    app = new TeamApp((scope) => {
      explainRoutes(scope, { explainer });
      logRoutes(scope, { deliveryLog });
    });
  });

  const explain = async (body: object, team = teamId) => app.ask(team, 'POST', '/api/groups/explain', body, 'viewer');
  const explained = async (body: object): Promise<ExplainedGroup[]> => {
    const answer = await explain(body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body['data'] as ExplainedGroup[];
  };

  async function person(email: string, change: object = {}): Promise<string> {
    const { member } = await new TeamsService({ storage, clock }).createUser({ teamId, email, role: 'viewer' });
    await storage.db
      .updateTable('users')
      .set({ email_verified_at: START, ...change })
      .where('id', '=', member.userId)
      .execute();
    return member.userId;
  }

  async function contact(userId: string, channel: 'telegram' | 'sms', address: string): Promise<void> {
    const { id } = await made.contacts.add({ teamId, userId }, channel, { address });
    await storage.db.updateTable('contacts').set({ verified_at: START }).where('id', '=', id).execute();
  }

  /** Somebody for each reason, groups that hear of different things at different times, and silences. */
  async function seedTeamOfAllKinds(pick: (most: number) => number): Promise<string[]> {
    const sites: string[] = [];
    for (const name of ['North', 'South', 'West'])
      sites.push((await new SitesService({ storage, clock }).create({ teamId, name, timeZone: 'UTC' })).id);
    const routers: string[] = [];
    for (let n = 0; n < 8; n += 1) {
      const { routerId } = await seedRouter(storage, { teamId });
      await storage.db
        .updateTable('routers')
        .set({ site_id: sites[n] ?? sites[n - 4] ?? null })
        .where('id', '=', routerId)
        .execute();
      routers.push(routerId);
    }
    const people = [
      await person('ada@example.org'),
      await person('bob@example.org', { email_verified_at: null }),
      await person('eve@example.org', { email_off_reason: 'switched_off', email_off_at: START }),
      await person('joe@example.org', {
        default_channel: 'telegram',
        quiet_from: 22 * 60,
        quiet_to: 7 * 60,
        quiet_critical: 1,
        time_zone: 'Asia/Tokyo',
      }),
      await person('kim@example.org', { default_channel: 'sms' }),
      await person('lea@example.org'),
    ];
    await contact(people[3]!, 'telegram', '4711');
    await contact(people[4]!, 'sms', '+34600123456');
    const topics: string[] = [];
    for (const [name, events] of Object.entries({
      All: ['*'],
      Faults: ['fault.*'],
      Jobs: ['job.*', 'config.changed'],
      Wan: ['fault.wan_down', 'forward.created'],
    }))
      topics.push((await new TopicsService({ storage, clock }).create(teamId, { name, events })).id);
    const windows = (['monday', 'tuesday', 'wednesday', 'friday', 'sunday'] as const).map((day) => ({ day, from: 6 * 60, to: 18 * 60 }));
    const schedule = (await new SchedulesService({ storage, clock }).create(teamId, { name: 'Day', timeZone: 'Europe/Madrid', windows }))
      .id;
    const target = await made.targets.create(teamId, { name: 'Chat', channel: 'webhook', address: { url: 'http://127.0.0.1:1/chat' } });
    const other = await made.targets.create(teamId, { name: 'Old', channel: 'webhook', address: { url: 'http://127.0.0.1:1/old' } });
    await storage.db.updateTable('notification_targets').set({ verified_at: START }).where('id', '=', target.id).execute();
    const groups = new GroupsService({ storage, clock });
    for (let n = 0; n < 8; n += 1) {
      const { id } = await groups.create(teamId, {
        name: `Group ${n}`,
        recipients: people.filter(() => pick(2) === 0),
        notifiables: people
          .filter(() => pick(3) === 0)
          .map((userId) => ({ id: userId, channel: (['email', 'telegram', 'sms'] as const)[pick(3)]! })),
        topics: topics.filter(() => pick(2) === 0),
        sites: n % 2 === 0 ? [] : sites.filter(() => pick(2) === 0),
        targets: [target.id, other.id].filter(() => pick(2) === 0),
        mute: (['never', 'never', 'schedule-active', 'schedule-inactive'] as const)[n % 4]!,
        scheduleId: schedule,
      });
      if (n === 4) await optout('group', id, people[5]!);
    }
    await optout('topic', topics[0]!, people[5]!);
    await optout('topic', topics[1]!, people[5]!);
    const silences = new SilencesService({ storage, clock, keepMs: HOUR, onEnd: () => undefined });
    const full = Math.ceil(START / HOUR) * HOUR;
    for (let n = 0; n < 12; n += 1) {
      const from = full + pick(300) * HOUR;
      const place = { routerId: n % 2 === 0 ? routers[pick(8)]! : null, siteId: n % 2 === 0 ? null : sites[pick(3)]! };
      await silences.create(teamId, { kind: 'user', id: people[0]! }, { ...place, from, until: from + (1 + pick(30)) * HOUR, reason: 'x' });
    }
    return routers;
  }

  const optout = (scope: 'group' | 'topic', scopeId: string, userId: string): Promise<void> =>
    insertOptout(storage.db, { teamId, userId, id: newId(START), scope, scopeId, at: START });

  function notice(kind: Kind, routerId: string, recordId: string): NewNotice {
    const [word, type = ''] = kind.split('.');
    const isFault = word === 'fault';
    const key = {
      fault: `router:${routerId}:${type}`,
      job: `router:${routerId}:jobs`,
      config: `router:${routerId}:config`,
      forward: `forward:${recordId}`,
    };
    return {
      teamId,
      kind,
      phase: isFault && kind !== 'fault.rebooted' ? 'open' : 'info',
      severity: isFault ? FAULT_SEVERITY[type as keyof typeof FAULT_SEVERITY] : 'warning',
      key: key[word as keyof typeof key],
      recordId,
      version: 1,
      routerId,
      at: clock.now(),
    };
  }

  /** Without a record behind it, the fault would count as over. */
  async function storeFault({ recordId, routerId, kind }: NewNotice): Promise<void> {
    const times = { created_at: clock.now(), updated_at: clock.now(), resolved_at: null };
    const row = { team_id: teamId, router_id: routerId!, type: kind.slice('fault.'.length), severity: 'critical', message: '', cause: '' };
    await storage.db
      .insertInto('faults')
      .values({ id: recordId, ...row, occurrences: 1, ...times })
      .execute();
  }

  test(`foretells what the log says of ${FACTS} random facts; whatever is not sent has a reason`, async () => {
    const pick = seededPick(7);
    const routers = await seedTeamOfAllKinds(pick);
    const seen = new Set<string>();
    for (let n = 0; n < FACTS; n += 1) {
      const fact = notice(KINDS[pick(KINDS.length)]!, routers[pick(routers.length)]!, newId(clock.now()));
      // Jobs of a router wait for a minute for each other, everything else for 3 seconds.
      const at = clock.now() + (fact.kind.startsWith('job.') ? MINUTE : 3000);
      const foretold = (await explained({ kind: fact.kind, router_id: fact.routerId, at: new Date(at).toISOString() })).flatMap(
        ({ group_id: group, recipients }) =>
          recipients.map(({ user_id: user, target_id: target, channel, state, reason }) =>
            [group, user ?? target, channel, state, reason].join(' '),
          ),
      );
      const from = new Date(clock.now()).toISOString();
      if (fact.phase === 'open') await storeFault(fact);
      await bench.facts([fact]);
      await bench.pass(2 * MINUTE);
      const rows = (await app.get(teamId, `/api/notifications?from=${from}`)).body['data'] as Record<string, string | null>[];
      const logged = rows.map((row) =>
        [row['group_id'], row['user_id'] ?? row['target_id'], row['channel'], row['state'], row['reason']].join(' '),
      );
      expect(logged.toSorted(inOrder), `${n}: ${fact.kind} of ${fact.routerId} at ${from}`).toEqual(foretold.toSorted(inOrder));
      for (const { state, reason } of rows) {
        if (state !== 'sent') expect(reason).toEqual(expect.any(String));
        seen.add(reason ?? 'sent');
      }
      if (fact.phase === 'open') {
        await storage.db.updateTable('faults').set({ resolved_at: clock.now() }).where('id', '=', fact.recordId).execute();
        await bench.facts([{ ...fact, phase: 'resolve', version: 2, at: clock.now() }]);
      }
      // Until nothing of it can come back, and again half an hour away from a full hour.
      await bench.pass(MINUTE);
      clock.advance((2 + pick(3)) * HOUR - 3 * MINUTE);
      await bench.settle();
    }
    expect([...seen].toSorted(inOrder)).toEqual(
      [
        'sent',
        'muted',
        'silenced',
        'unverified',
        'off',
        'unsubscribed',
        'no_address',
        'duplicate',
        'channel_unavailable',
        'quiet_hours',
      ].toSorted(inOrder),
    );
  });

  test('names groups that do not hear of it, and why', async () => {
    const { routerId } = await seedRouter(storage, { teamId });
    const site = (await new SitesService({ storage, clock }).create({ teamId, name: 'North', timeZone: 'UTC' })).id;
    const topic = (
      await new TopicsService({ storage, clock }).create(teamId, { name: 'Wan', events: ['fault.wan_down', 'fault.agent_offline'] })
    ).id;
    const groups = new GroupsService({ storage, clock });
    const ada = await person('ada@example.org');
    await groups.create(teamId, { name: 'None', recipients: [ada] });
    await groups.create(teamId, { name: 'Elsewhere', recipients: [ada], topics: [topic], sites: [site] });
    await groups.create(teamId, { name: 'Muted', recipients: [ada], topics: [topic], mute: 'always' });
    await groups.create(teamId, { name: 'Ops', recipients: [ada], topics: [topic] });
    const brief = async (body: object): Promise<Record<string, unknown>> =>
      Object.fromEntries(
        (await explained(body)).map((one) => [
          (one as unknown as { group: string }).group,
          [one.hears, one.reason, one.recipients.map(({ state, reason }) => reason ?? state)],
        ]),
      );
    const here = {
      None: [false, 'other_kinds', []],
      Elsewhere: [false, 'other_sites', []],
      Muted: [true, 'muted', ['muted']],
      Ops: [true, null, ['sent']],
    };
    expect(await brief({ kind: 'fault.wan_down', router_id: routerId })).toEqual(here);
    expect(await brief({ kind: 'fault.agent_offline', router_id: routerId })).toEqual(here);
    await storage.db.updateTable('routers').set({ site_id: site }).where('id', '=', routerId).execute();
    const there = { ...here, Elsewhere: [true, null, ['sent']] };
    expect(await brief({ kind: 'fault.wan_down', router_id: routerId })).toEqual(there);
    expect(await brief({ kind: 'fault.agent_offline', router_id: routerId })).toEqual(there);
    const until = new Date(START + HOUR).toISOString();
    await new SilencesService({ storage, clock, keepMs: HOUR, onEnd: () => undefined }).create(
      teamId,
      { kind: 'user', id: ada },
      { routerId, siteId: null, from: START, until: START + HOUR, reason: 'x' },
    );
    const silenced = await explained({ kind: 'fault.wan_down', router_id: routerId });
    expect(silenced.filter(({ reason }) => reason === 'silenced')).toMatchObject([{ until }, { until }]);
    expect(await brief({ kind: 'fault.wan_down', router_id: routerId, at: until })).toEqual(there);
    expect((await storage.db.selectFrom('messages').selectAll().execute()).length, 'nothing is stored').toBe(0);
  });

  test('says of an address that fails that the administrators hear of it, whatever the group follows', async () => {
    const [ada, bob] = [await person('ada@example.org'), await person('bob@example.org')];
    await storage.db.updateTable('members').set({ role: 'admin' }).where('user_id', '=', bob).execute();
    const groups = new GroupsService({ storage, clock });
    await groups.create(teamId, { name: 'None', recipients: [ada] });
    await groups.create(teamId, { name: 'Muted', recipients: [ada], mute: 'always' });
    const told = await explained({ kind: 'delivery.failing' });
    expect(told.map(({ hears, reason, recipients }) => [hears, reason, recipients.map(({ user_id: id, state }) => [id, state])])).toEqual([
      [true, null, [[bob, 'sent']]],
      [true, null, [[bob, 'sent']]],
    ]);
  });

  test("refuses a router that is not the team's", async () => {
    const { routerId } = await seedRouter(storage);
    expect(await explain({ kind: 'fault.wan_down', router_id: routerId })).toMatchObject({
      status: 422,
      body: { errors: { router_id: [expect.any(String)] } },
    });
    expect((await explain({ kind: '' })).status).toBe(422);
  });
});

function inOrder(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Whole numbers below `most`, the same in each run. */
function seededPick(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    // Park and Miller's generator.
    state = (state * 48_271) % 2_147_483_647;
    return state % most;
  };
}
