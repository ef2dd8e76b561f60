import { beforeEach, expect, test } from 'vitest';
import { TeamsService } from '../../server/access/teams/service.ts';
import type { SettingsChange } from '../../server/outbound/notifications/contacts/service.ts';
import { insertOptout } from '../../server/outbound/notifications/contacts/store.ts';
import { Explainer } from '../../server/outbound/notifications/explain/service.ts';
import { DeliveryLog } from '../../server/outbound/notifications/log/service.ts';
import { GroupsService } from '../../server/outbound/notifications/groups/service.ts';
import { ProvedAddresses } from '../../server/outbound/notifications/messages/addresses.ts';
import { AppError } from '../../server/platform/core/errors.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { NewNotice } from '../../server/platform/notices/types.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultFacts } from '../harness/fault-facts.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { makeAddresses } from '../harness/notification-addresses.ts';
import type { Addresses } from '../harness/notification-addresses.ts';
import { followKinds } from '../harness/notifications.ts';
import { NotifyBench } from '../harness/notify-bench.ts';
import { seedRouter } from '../harness/seed.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const CHAT = '4711';
const START = Date.parse('2026-01-05T12:00:00Z');
const ADA = 'ada@example.org';

describeEachDatabase('digests', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let bench: NotifyBench;
  let made: Addresses;
  let teamId: string;
  let routerId: string;
  let ada: string;
  let group: string;
  let facts: FaultFacts;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    ({ teamId, routerId } = await seedRouter(storage));
    made = makeAddresses({ storage, clock });
    bench = new NotifyBench(storage, clock, new ProvedAddresses(made.groupAddresses, made.messageLinks));
    const teams = new TeamsService({ storage, clock });
    ada = (await teams.createUser({ teamId, email: ADA, role: 'operator' })).member.userId;
    await teams.confirmEmail(ADA);
    group = await groupOf(teamId);
    facts = new FaultFacts(storage, clock, bench, teamId);
  });

  async function groupOf(team: string): Promise<string> {
    const id = await followKinds(storage, team, ['*'], clock.now());
    await new GroupsService({ storage, clock }).change(team, id, { recipients: [ada] });
    return id;
  }
  const choose = (change: SettingsChange): Promise<unknown> => made.contacts.change({ teamId, userId: ada }, change);
  const daily = (hour: number, kinds: string[] = []) => ({ digest: { every: 'daily' as const, at: hour * 60, kinds } });
  const until = (time: string): Promise<void> => bench.pass(Date.parse(time) - clock.now());
  const said = (): string[] => bench.server.mails.filter(({ to }) => to === ADA).map(({ kind, subject }) => `${kind} ${subject}`);
  const log = async () =>
    (await bench.log()).map(({ kind, state, reason }) => [kind, state, reason].filter((one) => one !== null).join(' '));

  const rebooted = (of = teamId, router = routerId): NewNotice => ({
    teamId: of,
    kind: 'fault.rebooted',
    phase: 'info',
    severity: 'info',
    key: `router:${router}:rebooted`,
    recordId: newId(clock.now()),
    version: 1,
    routerId: router,
    at: clock.now(),
  });

  test('what is only for information comes once a day at the time of the person, in their zone', async () => {
    await choose({ timeZone: 'Europe/Madrid', ...daily(8) });
    await bench.facts([rebooted()]);
    await bench.pass(MINUTE);
    expect(await log()).toEqual(['open withheld digest']);
    await bench.pass(2 * HOUR);
    await bench.facts([rebooted()]);
    await until('2026-01-06T06:59:59Z');
    expect(said()).toEqual([]);
    await until('2026-01-06T07:00:01Z');
    expect(said()).toEqual([expect.stringMatching(/^digest 2 events from 5 Jan, 13:00 to 08:00, 19 hr/)]);
    expect(bench.server.mails[0]!.at).toBe(Date.parse('2026-01-06T07:00:00Z'));
    // It may be of several groups.
    expect(bench.server.mails[0]!.reason).toContain('because a notification group of the team');
    expect(await log()).toEqual(['open withheld digest', 'open withheld digest', 'digest sent']);
    await until('2026-01-08T12:00:00Z');
    expect(said()).toHaveLength(1);
  });

  test('each line says what happened, in the language of the person', async () => {
    const rows: (readonly string[])[] = [];
    const firsts: string[] = [];
    const urls: string[] = [];
    bench.server.answer = ({ text }) => {
      rows.push(text.rows);
      firsts.push(text.first);
      urls.push(text.url);
      return { outcome: 'sent' };
    };
    await storage.db.updateTable('routers').set({ identity: 'core-1' }).execute();
    await choose({ locale: 'de', ...daily(14, ['fault.high_cpu']) });
    await bench.facts([rebooted()]);
    await facts.happen(facts.fault('open', routerId, 'high_cpu', 'warning'));
    await bench.pass(MINUTE);
    await facts.happen(facts.fault('resolve', routerId, 'high_cpu', 'warning'));
    await facts.happen(facts.fault('open', routerId, 'disk_nearly_full', 'warning'));
    await bench.pass(1500);
    await facts.happen(facts.fault('resolve', routerId, 'disk_nearly_full', 'warning'));
    await until('2026-01-05T14:00:01Z');
    expect(rows).toEqual([
      [
        'core-1: neu gestartet um 12:00 Uhr',
        'Vorbei: core-1: hohe CPU-Last von 12:00 Uhr bis 12:01 Uhr, 1 Min.',
        expect.stringMatching(/^Vorbei: core-1: Datenträger fast voll von 12:01 Uhr bis 12:01 Uhr/),
      ],
    ]);
    expect(firsts).toEqual(['3 Ereignisse von 12:00 Uhr bis 14:00 Uhr, 2 Std.']);
    // Its page names what happened, for the whole team.
    const digest = urls[0]!.split('/').at(-1)!;
    expect(urls[0]).toBe(`https://signalbox.example/notifications/threads/${digest}`);
    const deliveryLog = new DeliveryLog({ storage, clock, contacts: made.contacts, publicUrl: '' });
    const { thread, items } = await deliveryLog.getThread(teamId, digest);
    expect(thread.subject).toMatch(/^3 events from/);
    expect(items.map(({ name, detail }) => `${name} - ${detail}`)).toEqual([
      'core-1 - core-1: rebooted',
      'core-1 - Over: core-1: high CPU load from 12:00 to 12:01, 1 min',
      expect.stringMatching(/^core-1 - Over: core-1: disk nearly full from 12:01 to 12:01/),
    ]);
    expect(await log()).toEqual([
      'open withheld digest',
      'open withheld digest',
      'resolve withheld over_before_told',
      'resolve withheld digest',
      'digest sent',
    ]);
  });

  test('what is critical, and what the person has not named, comes at once', async () => {
    await choose(daily(8, ['fault.wan_down', 'job.*']));
    await facts.happen(facts.fault('open', routerId, 'wan_down', 'critical'));
    await facts.happen(facts.fault('open', routerId, 'high_cpu', 'warning'));
    await bench.pass(MINUTE);
    expect(bench.server.kindsOf(ADA)).toEqual(['open', 'open']);
  });

  test('what began and ended in quiet hours stands in the digest of the morning, also at the minute of their end', async () => {
    const owner = { teamId, userId: ada };
    const { id } = await made.contacts.add(owner, 'telegram', { address: CHAT });
    await storage.db.updateTable('contacts').set({ verified_at: 1 }).where('id', '=', id).execute();
    await choose({ quiet: { from: 22 * 60, to: 7 * 60, criticalBreaksThrough: true }, ...daily(7) });
    await new GroupsService({ storage, clock }).change(teamId, group, { recipients: [], notifiables: [{ id: ada, channel: 'telegram' }] });
    await until('2026-01-05T23:00:00Z');
    await facts.happen(facts.fault('open', routerId, 'high_cpu', 'warning'));
    await bench.pass(HOUR);
    await facts.happen(facts.fault('resolve', routerId, 'high_cpu', 'warning'));
    await bench.facts([rebooted()]);
    await until('2026-01-06T06:59:59Z');
    expect(bench.server.mails).toEqual([]);
    await until('2026-01-06T07:00:31Z');
    expect(bench.server.mails.map(({ to, kind }) => `${kind} ${to}`)).toEqual([`digest ${ADA}`]);
    expect(bench.server.mails[0]!.subject).toContain('2 events');
    expect((await log()).filter((line) => line.includes('over_in'))).toEqual(['resolve withheld over_in_quiet_hours']);
  });

  test('nothing to say is no message', async () => {
    await choose({ digest: { every: 'hourly' } });
    await bench.pass(48 * HOUR);
    expect(await log()).toEqual([]);
    await bench.facts([rebooted()]);
    await bench.pass(MINUTE);
    await storage.db.deleteFrom('threads').execute();
    await bench.pass(2 * HOUR);
    expect(bench.server.asked).toEqual([]);
  });

  test('one that finds nothing any more is no message', async () => {
    await choose({ digest: { every: 'hourly' } });
    bench.server.answer = () => ({ outcome: 'retry', error: 'unavailable', detail: '' });
    await bench.facts([rebooted()]);
    await bench.pass(HOUR + MINUTE);
    await storage.db.deleteFrom('threads').where('kind', '<>', 'digest').execute();
    bench.server.answer = () => ({ outcome: 'sent' });
    await bench.pass(HOUR);
    expect(await log()).toEqual(['digest superseded']);
    expect(said()).toEqual([]);
  });

  test('two teams do not know of each other', async () => {
    const other = await seedRouter(storage);
    await storage.db
      .insertInto('members')
      .values({ team_id: other.teamId, user_id: ada, role: 'viewer', active: 1, created_at: 1000 })
      .execute();
    await groupOf(other.teamId);
    await choose({ digest: { every: 'hourly' } });
    await bench.facts([rebooted(), rebooted(other.teamId, other.routerId)]);
    await bench.pass(2 * HOUR);
    expect(said()).toHaveLength(2);
    const rows = await bench.log();
    const digests = rows.filter(({ kind }) => kind === 'digest');
    expect(new Set(digests.map(({ team_id: id }) => id))).toEqual(new Set([teamId, other.teamId]));
    for (const { team_id: team, thread_id: digest } of digests)
      expect(rows.filter(({ digest_id: id }) => id === digest).map(({ team_id: id }) => id)).toEqual([team]);
  });

  test('a restart between its time and its sending repeats nothing and loses nothing', async () => {
    let random = 4711;
    const killed: Storage = {
      ...storage,
      writes: {
        write: (work) =>
          storage.writes.write(async (tx) => {
            const result = await work(tx);
            random = (random * 1_103_515_245 + 12_345) % 2 ** 31;
            if (random % 3000 < 1500) throw new AppError('unavailable', 'killed');
            return result;
          }),
      },
    };
    await choose({ digest: { every: 'hourly' } });
    for (let n = 0; n < 3; n += 1) {
      await bench.facts([rebooted()]);
      await bench.pass(10 * MINUTE);
    }
    clock.advance(40 * MINUTE);
    for (let n = 0; n < 20; n += 1) {
      bench.restart(killed);
      await bench.settle().catch(() => undefined);
      await storage.db.updateTable('messages').set({ claimed_until: 0 }).where('claim', 'is not', null).execute();
    }
    bench.restart();
    await bench.pass(3 * HOUR);
    // A mail whose record was lost is sent again with the same id.
    expect(new Set(bench.server.mails.map(({ id }) => id)).size).toBe(1);
    expect((await log()).filter((line) => line.startsWith('digest'))).toEqual(['digest sent']);
    expect((await bench.log()).filter(({ digest_at: at }) => at !== null)).toEqual([]);
  });

  test('a new time moves what waits; whoever wants none any more gets the one that was begun', async () => {
    await choose(daily(20));
    await bench.facts([rebooted()]);
    await bench.pass(MINUTE);
    await choose({ digest: { at: 15 * 60 } });
    await until('2026-01-05T15:00:01Z');
    expect(said()).toHaveLength(1);
    clock.advance(HOUR);
    await bench.facts([rebooted()]);
    await bench.pass(MINUTE);
    await choose({ digest: { every: null } });
    clock.advance(HOUR);
    await bench.facts([rebooted()]);
    await bench.pass(MINUTE);
    expect(bench.server.kindsOf(ADA)).toEqual(['digest', 'open']);
    await until('2026-01-06T15:00:01Z');
    expect(bench.server.kindsOf(ADA)).toEqual(['digest', 'open', 'digest']);
  });

  test('whoever has left the team’s messages gets no digest; whoever has left a group gets that of the others', async () => {
    const leave = (scope: 'group' | 'all', scopeId: string): Promise<void> =>
      insertOptout(storage.db, { teamId, userId: ada, id: newId(START), scope, scopeId, at: START });
    await choose({ digest: { every: 'hourly' } });
    await bench.facts([rebooted()]);
    await bench.pass(MINUTE);
    await leave('group', group);
    await bench.pass(HOUR);
    expect(said()).toHaveLength(1);
    await groupOf(teamId);
    clock.advance(HOUR);
    await bench.facts([rebooted()]);
    await bench.pass(MINUTE);
    await leave('all', '');
    await bench.pass(2 * HOUR);
    expect(said()).toHaveLength(1);
    expect((await log()).at(-1)).toBe('digest withheld unsubscribed');
  });

  test('whose own channel does not work gets it by another', async () => {
    const owner = { teamId, userId: ada };
    const { id } = await made.contacts.add(owner, 'telegram', { address: CHAT });
    await choose({ defaultChannel: 'telegram', digest: { every: 'hourly' } });
    await new GroupsService({ storage, clock }).change(teamId, group, { recipients: [], notifiables: [{ id: ada, channel: 'email' }] });
    await bench.facts([rebooted()]);
    await bench.pass(2 * HOUR);
    expect(bench.server.mails.map(({ to }) => to)).toEqual([ADA]);
    await storage.db.updateTable('contacts').set({ verified_at: 1 }).where('id', '=', id).execute();
    clock.advance(HOUR);
    await bench.facts([rebooted()]);
    await bench.pass(2 * HOUR);
    expect(bench.server.mails.map(({ to }) => to)).toEqual([ADA, CHAT]);
  });

  test('explain foretells what waits for it', async () => {
    await choose(daily(8, ['fault.high_cpu']));
    const explainer = new Explainer({ storage, clock, messages: bench.messages });
    const reasonOf = async (kind: string) => {
      const [explained] = await explainer.explain(teamId, { kind, routerId, at: undefined });
      return explained!.lines.map(({ state, reason }) => [state, reason]);
    };
    expect(await reasonOf('fault.high_cpu')).toEqual([['withheld', 'digest']]);
    expect(await reasonOf('fault.rebooted')).toEqual([['withheld', 'digest']]);
    expect(await reasonOf('fault.weak_signal')).toEqual([['pending', null]]);
  });
});
