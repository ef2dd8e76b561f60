import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { offeredChannels } from '../../server/outbound/notifications/channels/offer.ts';
import { channelRoutes } from '../../server/outbound/notifications/channels/routes.ts';
import { WebhookChannel } from '../../server/outbound/notifications/channels/webhook.ts';
import { groupRoutes } from '../../server/outbound/notifications/groups/routes.ts';
import { GroupsService } from '../../server/outbound/notifications/groups/service.ts';
import { PROOF } from '../../server/outbound/notifications/proofs/types.ts';
import { targetRoutes } from '../../server/outbound/notifications/targets/routes.ts';
import { MAX_TARGETS } from '../../server/outbound/notifications/targets/service.ts';
import { TeamsService } from '../../server/access/teams/service.ts';
import { Poster } from '../../server/platform/outgoing/poster.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { makeAddresses } from '../harness/notification-addresses.ts';
import { TeamApp } from '../harness/team-app.ts';
import type { TeamAnswer } from '../harness/team-app.ts';
import { WebhookReceiver, later } from '../harness/webhook-receiver.ts';

const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const SLACK = 'https://hooks.slack.com/services/T0AAA/B0BBB/secretsecret';
const HOUR_MS = 3_600_000;

describeEachDatabase('notification targets', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let app: TeamApp;
  let receiver: WebhookReceiver;
  let poster: Poster;
  let north: string;
  let south: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(Date.parse('2026-01-05T12:00:00Z'));
    receiver = await WebhookReceiver.start();
    const now = (): number => clock.now();
    const rules = { allowLoopback: true, privateNetworks: ['10.1.0.0/16'] };
    poster = new Poster({ rules, resolve: async () => ['203.0.113.1'], deadlineMs: 5000 });
    const channels = { webhook: new WebhookChannel({ poster, now }) };
    const { targets, groupAddresses } = makeAddresses({ storage, clock, channels, rules });
    app = new TeamApp((scope) => {
      targetRoutes(scope, { targets });
      channelRoutes(scope, { notificationChannels: { all: offeredChannels(channels), mayBePrivate: true } });
      groupRoutes(scope, { groups: new GroupsService({ storage, clock }), groupAddresses, now });
    });
    const teams = new TeamsService({ storage, clock });
    north = (await teams.createTeam('North')).id;
    south = (await teams.createTeam('South')).id;
  });
  afterEach(async () => {
    await poster.close();
    await receiver.close();
  });

  const post = (body: object, teamId = north): Promise<TeamAnswer> => app.ask(teamId, 'POST', '/api/notification-targets', body);
  async function made(body: object = { name: 'Ops', channel: 'slack', address: { url: SLACK } }, teamId = north): Promise<string> {
    const answer = await post(body, teamId);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return (answer.body['data'] as { id: string }).id;
  }
  const webhook = (name = 'Hook', path = 'hook'): object => ({ name, channel: 'webhook', address: { url: `${receiver.url}/${path}` } });
  const read = async (id: string): Promise<Record<string, unknown>> =>
    (await app.get(north, `/api/notification-targets/${id}`)).body['data'] as Record<string, unknown>;
  const sendCode = (id: string): Promise<TeamAnswer> => app.ask(north, 'POST', `/api/notification-targets/${id}/send-code`);
  const verify = (id: string, code: string): Promise<TeamAnswer> =>
    app.ask(north, 'POST', `/api/notification-targets/${id}/verify`, { code });
  /** The code of the newest message. */
  function arrived(): string {
    const { data } = JSON.parse(receiver.received.at(-1)!.body) as { data: { is_test: boolean; thread: { subject: { code: string } } } };
    expect(data.is_test).toBe(true);
    return data.thread.subject.code;
  }

  test('a channel without an account of the operator says so, and names the settings', async () => {
    const { body } = await app.get(north, '/api/notification-channels');
    const { channels, private_networks: mayBePrivate } = body['data'] as { channels: object[]; private_networks: boolean };
    expect(mayBePrivate).toBe(true);
    expect(channels).toContainEqual({ channel: 'webhook', configured: true, settings: [] });
    expect(channels).toContainEqual({ channel: 'telegram', configured: false, settings: ['SIGNALBOX_TELEGRAM_TOKEN_FILE'] });
    const id = await made({ name: 'Bot', channel: 'telegram', address: { chat_id: '42' } });
    expect(await sendCode(id)).toMatchObject({
      status: 409,
      body: {
        message: expect.stringContaining('cannot send by telegram; its operator has to configure it by SIGNALBOX_TELEGRAM_TOKEN_FILE'),
      },
    });
  });

  test('an address is stored encrypted and never shown again', async () => {
    const answer = await post({ name: 'Ops', channel: 'slack', address: { url: SLACK } });
    expect(answer.body['data']).toMatchObject({
      channel: 'slack',
      shown: 'https://hooks.slack.com/…/•••',
      verified_at: null,
      off_reason: null,
    });
    const list = await app.get(north, '/api/notification-targets');
    expect(list.body['data']).toEqual([answer.body['data']]);
    const rows = JSON.stringify(await storage.db.selectFrom('notification_targets').selectAll().execute());
    for (const text of [JSON.stringify([answer.body, list.body]), rows]) expect(text).not.toContain('secretsecret');
  });

  test.each([
    ['url', 'slack', { url: 'http://hooks.slack.com/x' }, 'must begin with https://'],
    ['url', 'slack', {}, 'is missing'],
    ['url', 'webhook', { url: 'https://10.2.0.1/x' }, 'SIGNALBOX_NOTIFY_PRIVATE'],
    ['url', 'webhook', { url: 'https://169.254.169.254/latest/meta-data' }, 'not public'],
    ['url', 'webhook', { url: 'https://ada:secret@example.org/' }, 'user name or password'],
    ['url', 'teams', { url: 'https://example.webhook.office.com/webhookb2/x' }, 'Office 365 connector'],
    ['url', 'teams', { url: 'https://outlook.office.com/webhook/x' }, 'Office 365 connector'],
    ['topic', 'ntfy', { url: 'https://ntfy.sh' }, 'is missing'],
    ['url', 'ntfy', { url: 'https://ntfy.sh/alerts', topic: 'alerts' }, 'without a path'],
    ['url', 'ntfy', { url: 'https://ntfy.sh/?up=1', topic: 'alerts' }, 'without a path'],
    ['topic', 'ntfy', { url: 'https://ntfy.sh', topic: 'a/b' }, 'letters, digits'],
    ['token', 'gotify', { url: 'https://gotify.example.org' }, 'is missing'],
    ['routing_key', 'pagerduty', { routing_key: 'short' }, '32 letters and digits'],
    ['chat_id', 'telegram', { chat_id: 'my chat' }, 'number of a chat'],
    ['chat_id', 'slack', { url: SLACK, chat_id: '1' }, 'is not part of an address of slack'],
  ])('%s of a %s target: %j is refused', async (field, channel, address, reason) => {
    const answer = await post({ name: 'X', channel, address });
    expect(answer).toMatchObject({ status: 422, body: { errors: { [`address.${field}`]: [expect.stringContaining(reason)] } } });
  });

  test.each([
    ['ntfy', { url: 'http://10.1.2.3:8080', topic: 'alerts', token: null }, 'http://10.1.2.3:8080/•••'],
    ['gotify', { url: 'https://gotify.example.org', token: 'AbCdEf' }, 'https://gotify.example.org/•••'],
    [
      'teams',
      { url: 'https://prod-1.westeurope.logic.azure.com:443/workflows/1/x?sig=y' },
      'https://prod-1.westeurope.logic.azure.com/…/•••',
    ],
    ['pagerduty', { routing_key: 'a'.repeat(32), region: 'eu' }, 'PagerDuty (eu) •••'],
    ['telegram', { chat_id: '-1001234567890' }, '-1001234567890'],
  ])('%s: %j is accepted and shown as %s', async (channel, address, shown) => {
    expect((await post({ name: 'X', channel, address })).body).toMatchObject({ data: { channel, shown } });
  });

  describe('proof', () => {
    test('by the code of the message that arrives there, and by no other', async () => {
      const id = await made(webhook());
      const sent = await sendCode(id);
      expect(sent.body['data']).toMatchObject({ sent: true, error: null, expires_at: new Date(clock.now() + PROOF.lifeMs).toISOString() });
      expect(JSON.stringify(sent.body)).not.toContain(arrived());
      const wrong = arrived() === '000000' ? '000001' : '000000';
      expect(await verify(id, wrong)).toMatchObject({ status: 422, body: { errors: { code: ['is not the code that was sent'] } } });
      expect(await read(id)).toMatchObject({ verified_at: null });
      expect((await verify(id, arrived())).body['data']).toMatchObject({ verified_at: new Date(clock.now()).toISOString() });
      expect(await verify(id, arrived()), 'a second time').toMatchObject({ status: 422 });
    });

    test('a code ends after ten minutes, with the fifth wrong one, and with the next code', async () => {
      const id = await made(webhook());
      await sendCode(id);
      clock.advance(PROOF.lifeMs);
      expect(await verify(id, arrived()), 'too late').toMatchObject({ status: 422 });

      await sendCode(id);
      const code = arrived();
      const wrong = code === '000000' ? '000001' : '000000';
      for (let i = 0; i < PROOF.tries; i += 1) await verify(id, wrong);
      expect(await verify(id, code), 'after five wrong ones').toMatchObject({
        status: 422,
        body: { errors: { code: ['is no longer valid; ask for another one'] } },
      });

      clock.advance(PROOF.pauseMs);
      await sendCode(id);
      const old = arrived();
      clock.advance(PROOF.pauseMs);
      await sendCode(id);
      if (old !== arrived()) expect(await verify(id, old), 'an earlier code').toMatchObject({ status: 422 });
      expect(await verify(id, arrived())).toMatchObject({ status: 200 });
    });

    test('a new address must be proved again, and a code for the old one does not prove it', async () => {
      const id = await made(webhook());
      await sendCode(id);
      const code = arrived();
      const changed = await app.ask(north, 'PATCH', `/api/notification-targets/${id}`, { address: { url: `${receiver.url}/other` } });
      expect(changed.status).toBe(200);
      expect(await verify(id, code)).toMatchObject({ status: 422 });
      clock.advance(PROOF.pauseMs);
      await sendCode(id);
      await verify(id, arrived());
      expect(await read(id)).toMatchObject({ verified_at: expect.any(String) });
      await app.ask(north, 'PATCH', `/api/notification-targets/${id}`, { name: 'Renamed' });
      expect(await read(id), 'a new name changes nothing').toMatchObject({ name: 'Renamed', verified_at: expect.any(String) });
      await app.ask(north, 'PATCH', `/api/notification-targets/${id}`, { address: { url: `${receiver.url}/hook` } });
      expect(await read(id)).toMatchObject({ verified_at: null });
    });

    test('what the receiver says about a refused message is told', async () => {
      const id = await made(webhook());
      receiver.reply = later('3', 503);
      expect((await sendCode(id)).body['data']).toMatchObject({ sent: false, error: 'unavailable', detail: 'HTTP 503' });
    });

    test('a channel without an account of the operator is refused in words', async () => {
      const id = await made({ name: 'T', channel: 'telegram', address: { chat_id: '1' } });
      expect(await sendCode(id)).toMatchObject({
        status: 409,
        body: { message: expect.stringContaining('its operator has to configure it') },
      });
    });

    test('codes are limited for each target, address and team, also when targets are deleted', async () => {
      const id = await made(webhook());
      await sendCode(id);
      expect(await sendCode(id)).toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
      for (let i = 1; i < PROOF.perAddressADay; i += 1) {
        await app.ask(north, 'DELETE', `/api/notification-targets/${(await newest())!}`);
        expect(await sendCode(await made(webhook())), `number ${i + 1}`).toMatchObject({ status: 200 });
      }
      await app.ask(north, 'DELETE', `/api/notification-targets/${(await newest())!}`);
      expect(await sendCode(await made(webhook())), 'one address').toMatchObject({ status: 429 });
      for (let i = PROOF.perAddressADay; i < PROOF.perTeamAnHour; i += 1)
        expect(await sendCode(await made(webhook(`n${i}`, `n${i}`)))).toMatchObject({ status: 200 });
      const last = await made(webhook('last', 'last'));
      expect(await sendCode(last), 'one team').toMatchObject({ status: 429 });
      expect(receiver.received).toHaveLength(PROOF.perTeamAnHour);
      clock.advance(HOUR_MS);
      expect(await sendCode(last)).toMatchObject({ status: 200 });
    });

    async function newest(): Promise<string | undefined> {
      const { body } = await app.get(north, '/api/notification-targets?limit=1');
      return (body['data'] as { id: string }[])[0]?.id;
    }
  });

  test('a team has a limited number, and names are its own', async () => {
    await made();
    expect(await post({ name: 'Ops', channel: 'slack', address: { url: SLACK } })).toMatchObject({ status: 409 });
    await made(undefined, south);
    const key = (await storage.db.selectFrom('notification_targets').selectAll().where('team_id', '=', north).execute())[0]!;
    const rows = Array.from({ length: MAX_TARGETS - 1 }, (_, i) => ({ ...key, id: `${i}`, name: `n${i}` }));
    await storage.db.insertInto('notification_targets').values(rows).execute();
    expect(await post(webhook('One more'))).toMatchObject({ status: 409, body: { message: expect.stringContaining('at most 200') } });
  });

  test('of another team it does not exist', async () => {
    const id = await made();
    const url = `/api/notification-targets/${id}`;
    for (const [method, path, body] of [
      ['GET', url],
      ['PATCH', url, { name: 'Mine' }],
      ['POST', `${url}/send-code`],
      ['POST', `${url}/verify`, { code: '123456' }],
      ['DELETE', url],
    ] as const)
      expect(await app.ask(south, method, path, body), path).toMatchObject({ status: 404 });
    expect((await app.get(south, '/api/notification-targets')).body['data']).toEqual([]);
    const group = await app.ask(south, 'POST', '/api/groups', { name: 'G', targets: [id] });
    expect(group).toMatchObject({ status: 422, body: { errors: { targets: [`${id} is not a notification target of this team`] } } });
    expect(await read(id)).toMatchObject({ name: 'Ops' });
  });

  test('only administrators create, change, prove and delete', async () => {
    const id = await made();
    const url = `/api/notification-targets/${id}`;
    for (const [method, path, body] of [
      ['POST', '/api/notification-targets', webhook()],
      ['PATCH', url, { name: 'Mine' }],
      ['POST', `${url}/send-code`],
      ['POST', `${url}/verify`, { code: '123456' }],
      ['DELETE', url],
    ] as const)
      expect(await app.ask(north, method, path, body, 'operator'), path).toMatchObject({ status: 403 });
  });

  describe('groups', () => {
    async function group(body: object, teamId = north): Promise<string> {
      const answer = await app.ask(teamId, 'POST', '/api/groups', body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      return answer.body['id'] as string;
    }
    const put = (id: string, body: object): Promise<TeamAnswer> => app.ask(north, 'PUT', `/${id}`, body);

    test('name targets, which leave them when they are deleted', async () => {
      const [one, two] = [await made(), await made(webhook())];
      const id = await group({ name: 'On call', targets: [two, one, two] });
      expect((await app.get(north, `/api/groups/${id}`)).body).toMatchObject({ targets: [two, one] });
      await put(id, { name: 'Renamed' });
      await app.ask(north, 'DELETE', `/api/notification-targets/${two}`);
      expect((await app.get(north, `/api/groups/${id}`)).body).toMatchObject({ name: 'Renamed', targets: [one] });
    });

    test('escalate to another group, until it is set to null or that group is deleted', async () => {
      const [first, second] = [await group({ name: '1' }), await group({ name: '2' })];
      expect((await put(first, { escalate_to: second, escalate_after_minutes: 15 })).body).toMatchObject({
        escalate_to: second,
        escalate_after_minutes: 15,
      });
      expect((await put(first, { escalate_after_minutes: 5 })).body).toMatchObject({ escalate_to: second, escalate_after_minutes: 5 });
      expect((await put(first, { escalate_to: null })).body).toMatchObject({ escalate_to: null, escalate_after_minutes: null });
      await put(first, { escalate_to: second, escalate_after_minutes: 15 });
      await app.ask(north, 'DELETE', `/api/groups/${second}`);
      expect((await app.get(north, `/api/groups/${first}`)).body).toMatchObject({ escalate_to: null, escalate_after_minutes: null });
    });

    test('half an escalation, a loop, a sixth group and a group of another team are refused', async () => {
      const ids: string[] = [];
      for (let i = 0; i < 6; i += 1) ids.push(await group({ name: String(i) }));
      const [a, b, c, d, e, f] = ids as [string, string, string, string, string, string];
      const refused = (reason: string): object => ({ status: 422, body: { errors: { escalate_to: [expect.stringContaining(reason)] } } });
      expect(await put(a, { escalate_to: b })).toMatchObject({
        status: 422,
        body: { errors: { escalate_after_minutes: [expect.any(String)] } },
      });
      expect(await put(a, { escalate_after_minutes: 5 })).toMatchObject(refused('is missing'));
      expect(await put(a, { escalate_to: a, escalate_after_minutes: 5 })).toMatchObject(refused('leads back'));
      for (const [from, to] of [
        [b, c],
        [c, d],
        [d, e],
        [a, b],
      ] as const)
        expect(await put(from, { escalate_to: to, escalate_after_minutes: 5 })).toMatchObject({ status: 200 });
      expect(await put(e, { escalate_to: a, escalate_after_minutes: 5 })).toMatchObject(refused('leads back'));
      expect(await put(e, { escalate_to: f, escalate_after_minutes: 5 })).toMatchObject(refused('a chain of 6'));
      expect(await put(f, { escalate_to: a, escalate_after_minutes: 5 })).toMatchObject(refused('a chain of 6'));
      const theirs = await group({ name: 'Theirs' }, south);
      for (const to of [theirs, UNKNOWN])
        expect(await put(a, { escalate_to: to, escalate_after_minutes: 5 })).toMatchObject(refused('is not a group of this team'));
    });

    test('changes of escalations at the same time make no loop', async () => {
      const [a, b] = [await group({ name: 'a' }), await group({ name: 'b' })];
      const answers = await Promise.all([
        put(a, { escalate_to: b, escalate_after_minutes: 5 }),
        put(b, { escalate_to: a, escalate_after_minutes: 5 }),
      ]);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 422]));
    });
  });
});
