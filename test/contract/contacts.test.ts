import { beforeEach, describe, expect, test } from 'vitest';
import type { Address, Channel, OutgoingMessage } from '../../server/outbound/notifications/channels/types.ts';
import { contactRoutes } from '../../server/outbound/notifications/contacts/routes.ts';
import { settingsRoutes } from '../../server/outbound/notifications/contacts/settings/routes.ts';
import { groupRoutes } from '../../server/outbound/notifications/groups/routes.ts';
import { GroupsService } from '../../server/outbound/notifications/groups/service.ts';
import { messageLinkRoutes } from '../../server/outbound/notifications/leaving/routes.ts';
import { PROOF } from '../../server/outbound/notifications/proofs/types.ts';
import { TopicsService } from '../../server/outbound/notifications/topics/service.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { TeamsService } from '../../server/access/teams/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { makeAddresses, visitsOf } from '../harness/notification-addresses.ts';
import type { Addresses } from '../harness/notification-addresses.ts';
import { NotifyBench } from '../harness/notify-bench.ts';
import { TeamApp } from '../harness/team-app.ts';

interface Sent {
  message: OutgoingMessage;
  address: Address;
}

/** Takes every message. */
function channelOf<N extends 'email' | 'sms'>(name: N, sent: Sent[]): Channel<N> {
  return {
    name,
    limits: { perSecond: 1, burst: 1 },
    bucketOf: () => name,
    async send(message, address) {
      sent.push({ message, address: { channel: name, ...address } as unknown as Address });
      return { outcome: 'sent' };
    },
  };
}

interface Answer {
  status: number;
  data: Record<string, unknown>;
  rows: Record<string, unknown>[];
  body: Record<string, unknown>;
}

describeEachDatabase('where people are reached', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let app: TeamApp;
  let made: Addresses;
  let sent: Sent[];
  let north: string;
  let south: string;
  let ada: string;
  let bob: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(Date.parse('2026-01-05T12:00:00Z'));
    sent = [];
    made = makeAddresses({ storage, clock, channels: { email: channelOf('email', sent), sms: channelOf('sms', sent) } });
    app = new TeamApp((scope) => {
      contactRoutes(scope, made);
      settingsRoutes(scope, { contacts: made.contacts });
      groupRoutes(scope, { groups: new GroupsService({ storage, clock }), groupAddresses: made.groupAddresses, now: () => clock.now() });
    });
    const rateLimit = { perMinute: 1000, monotonic: () => clock.now() };
    void app.app.register(async (scope) =>
      messageLinkRoutes(scope as TeamApp['app'], {
        ...made,
        acknowledgeVisits: visitsOf(made, new NotifyBench(storage, clock), clock),
        rateLimit,
      }),
    );
    const teams = new TeamsService({ storage, clock });
    north = (await teams.createTeam('North')).id;
    south = (await teams.createTeam('South')).id;
    ada = (await teams.createUser({ teamId: north, email: 'ada@example.org', role: 'viewer' })).member.userId;
    bob = (await teams.createUser({ teamId: north, email: 'bob@example.org', role: 'admin' })).member.userId;
  });

  async function ask(userId: string, method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT', url: string, payload?: object): Promise<Answer> {
    const authorization = `Bearer ${north}/admin/${userId}`;
    const answer = await app.app.inject({ method, url, headers: { authorization }, ...(payload ? { payload } : {}) });
    const body = answer.body === '' ? {} : answer.json<Record<string, unknown>>();
    const data = body['data'] as Record<string, unknown>;
    return { status: answer.statusCode, data, rows: data as unknown as Record<string, unknown>[], body };
  }
  async function add(userId: string, body: object = { channel: 'sms', address: '+34 600 123 456' }): Promise<string> {
    const answer = await ask(userId, 'POST', '/api/me/contacts', body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.data['id'] as string;
  }
  const sendCode = (userId: string, id: string): Promise<Answer> => ask(userId, 'POST', `/api/me/contacts/${id}/send-code`);
  const verify = (userId: string, id: string, code: string): Promise<Answer> =>
    ask(userId, 'POST', `/api/me/contacts/${id}/verify`, { code });
  function code(): string {
    const { subject } = sent.at(-1)!.message.thread;
    return subject.type === 'proof' ? (subject.code ?? '') : '';
  }
  async function proved(userId: string, body?: object): Promise<string> {
    const id = await add(userId, body);
    await sendCode(userId, id);
    expect((await verify(userId, id, code())).status).toBe(200);
    return id;
  }
  const own = async (userId: string, id: string): Promise<Record<string, unknown> | undefined> =>
    (await ask(userId, 'GET', '/api/me/contacts')).rows.find((row) => row['id'] === id);
  /** As a browser, or a mail program, opens it. */
  const visit = (method: 'GET' | 'POST', link: string, payload?: string, type = 'application/x-www-form-urlencoded') =>
    app.app.inject({
      method,
      url: new URL(link).pathname,
      ...(payload === undefined ? {} : { payload, headers: { 'content-type': type } }),
    });

  describe('a telephone', () => {
    test('is proved by the code that it gets; the address is encrypted, and masked for others', async () => {
      const id = await add(ada);
      expect(await own(ada, id)).toMatchObject({ address: '+34600123456', verified_at: null, is_account: false });
      expect((await sendCode(ada, id)).data).toMatchObject({ sent: true, error: null });
      expect(sent.at(-1)!.address).toEqual({ channel: 'sms', to: '+34600123456' });
      const wrong = code() === '000000' ? '000001' : '000000';
      expect((await verify(ada, id, wrong)).status).toBe(422);
      expect((await verify(ada, id, code())).data).toMatchObject({ verified_at: new Date(clock.now()).toISOString() });
      const rows = JSON.stringify(await storage.db.selectFrom('contacts').selectAll().execute());
      expect(rows).not.toContain('600123');
      const group = await ask(bob, 'POST', '/api/groups', { name: 'G', notifiables: [{ id: ada, channel: 'sms' }] });
      const reach = await ask(bob, 'GET', `/api/groups/${String(group.body['id'])}/reach`);
      expect(reach.rows).toEqual([{ user_id: ada, target_id: null, channel: 'sms', address: '+34•••56', state: 'reached' }]);
    });

    test('five wrong codes end it, and ten minutes do', async () => {
      const id = await add(ada);
      await sendCode(ada, id);
      const wrong = code() === '000000' ? '000001' : '000000';
      for (let i = 0; i < PROOF.tries; i += 1) expect((await verify(ada, id, wrong)).status).toBe(422);
      expect((await verify(ada, id, code())).status).toBe(422);
      clock.advance(PROOF.pauseMs);
      await sendCode(ada, id);
      clock.advance(PROOF.lifeMs);
      expect((await verify(ada, id, code())).status).toBe(422);
      expect(await own(ada, id)).toMatchObject({ verified_at: null });
    });

    test('nobody else proves, changes, sees or deletes it, an administrator neither', async () => {
      const id = await add(ada);
      await sendCode(ada, id);
      expect((await verify(bob, id, code())).status).toBe(404);
      expect((await sendCode(bob, id)).status).toBe(404);
      expect((await ask(bob, 'PATCH', `/api/me/contacts/${id}`, { off: true })).status).toBe(404);
      expect((await ask(bob, 'DELETE', `/api/me/contacts/${id}`)).status).toBe(404);
      expect(await own(bob, id)).toBeUndefined();
      expect((await app.ask(north, 'GET', '/api/me/contacts')).status, 'a key').toBe(403);
      expect((await verify(ada, id, code())).status).toBe(200);
    });
  });

  describe('the email of the account', () => {
    test('is proved by the link of a mail: GET shows a page and changes nothing, POST proves', async () => {
      expect(await own(ada, ada)).toMatchObject({ channel: 'email', address: 'ada@example.org', is_account: true, verified_at: null });
      await sendCode(ada, ada);
      const { message, address } = sent.at(-1)!;
      expect(address).toEqual({ channel: 'email', to: 'ada@example.org' });
      expect(code()).toBe('');
      for (let i = 0; i < 3; i += 1) {
        const page = await visit('GET', message.thread.url);
        expect(page.statusCode).toBe(200);
        expect(page.body).toContain('Confirm your address');
      }
      expect(await own(ada, ada), 'opened by a scanner').toMatchObject({ verified_at: null });
      clock.advance(PROOF.lifeMs * 10);
      expect((await visit('POST', message.thread.url, 'confirm=yes')).statusCode).toBe(200);
      expect(await own(ada, ada)).toMatchObject({ verified_at: new Date(clock.now()).toISOString() });
      const again = await visit('POST', message.thread.url, 'confirm=yes');
      expect([again.statusCode, again.body]).toEqual([200, expect.stringContaining('Confirmed')]);
    });

    test('a link ends after a day, and a changed one works nowhere', async () => {
      await sendCode(ada, ada);
      const { url } = sent.at(-1)!.message.thread;
      expect((await visit('POST', `${url.slice(0, -1)}${url.endsWith('x') ? 'y' : 'x'}`, '')).statusCode).toBe(404);
      clock.advance(PROOF.linkLifeMs);
      expect((await visit('POST', url, '')).statusCode).toBe(404);
      expect((await visit('GET', 'https://signalbox.test/mail/confirm/nonsense')).statusCode).toBe(404);
      expect(await own(ada, ada)).toMatchObject({ verified_at: null });
    });

    test('counts as proved when an identity provider has verified it, and keeps its first time', async () => {
      const teams = new TeamsService({ storage, clock });
      await teams.confirmEmail('Ada@Example.org');
      const at = new Date(clock.now()).toISOString();
      clock.advance(1000);
      await teams.confirmEmail('ada@example.org');
      expect(await own(ada, ada)).toMatchObject({ verified_at: at });
      expect(await own(bob, bob)).toMatchObject({ verified_at: null });
    });

    test('can be switched off and not deleted', async () => {
      expect((await ask(ada, 'DELETE', `/api/me/contacts/${ada}`)).status).toBe(409);
      expect((await ask(ada, 'PATCH', `/api/me/contacts/${ada}`, { off: true })).data).toMatchObject({ off_reason: 'switched_off' });
      expect((await ask(ada, 'PATCH', `/api/me/contacts/${ada}`, { off: false })).data).toMatchObject({ off_reason: null, off_at: null });
    });
  });

  test.each([
    ['address', { channel: 'sms', address: '600 123 456' }],
    ['address', { channel: 'email', address: 'Ada <ada@example.org>' }],
    ['address', { channel: 'telegram', address: '@ada' }],
    ['address', { channel: 'sms' }],
    ['subscription', { channel: 'web_push' }],
    ['subscription.endpoint', { channel: 'web_push', subscription: { endpoint: 'https://10.0.0.1/x', keys: { p256dh: 'x', auth: 'y' } } }],
    [
      'subscription.keys.p256dh',
      { channel: 'web_push', subscription: { endpoint: 'https://push.example.org/x', keys: { p256dh: 'x', auth: 'y' } } },
    ],
    ['channel', { channel: 'slack', address: 'x' }],
  ])('%s is refused by name: %j', async (field, body) => {
    expect((await ask(ada, 'POST', '/api/me/contacts', body)).body).toMatchObject({ errors: { [field]: [expect.any(String)] } });
  });

  test('one address for each channel, no address twice, and five browsers, which count as proved', async () => {
    await add(ada);
    expect((await ask(ada, 'POST', '/api/me/contacts', { channel: 'sms', address: '+34 600 000 000' })).status).toBe(409);
    expect((await ask(ada, 'POST', '/api/me/contacts', { channel: 'email', address: 'ada@example.org' })).status, 'of the account').toBe(
      409,
    );
    await add(ada, { channel: 'email', address: 'ada@example.net' });
    const browser = (n: number): object => ({
      channel: 'web_push',
      subscription: {
        endpoint: `https://push.example.org/${n}`,
        keys: { p256dh: Buffer.alloc(65, n).toString('base64url'), auth: Buffer.alloc(16, n).toString('base64url') },
      },
    });
    for (let n = 1; n <= 5; n += 1) expect(await own(ada, await add(ada, browser(n)))).toMatchObject({ verified_at: expect.any(String) });
    expect((await ask(ada, 'POST', '/api/me/contacts', browser(6))).status).toBe(409);
    expect((await ask(bob, 'POST', '/api/me/contacts', browser(1))).status).toBe(200);
  });

  test('two requests at the same time do not give a person two telephones', async () => {
    const answers = await Promise.all(
      ['+34600000001', '+34600000002'].map((address) => ask(ada, 'POST', '/api/me/contacts', { channel: 'sms', address })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
  });

  describe('settings', () => {
    const url = '/api/me/notification-settings';

    test('are a person’s, and change in parts', async () => {
      const none = {
        locale: null,
        time_zone: null,
        quiet_from: null,
        quiet_to: null,
        critical_breaks_through: true,
        default_channel: null,
        digest: null,
        digest_at: 480,
        digest_kinds: [],
      };
      expect((await ask(ada, 'GET', url)).data).toEqual(none);
      const wanted = { locale: 'es', time_zone: 'Pacific/Auckland', quiet_from: 1320, quiet_to: 420, critical_breaks_through: false };
      expect((await ask(ada, 'PATCH', url, wanted)).data).toEqual({ ...none, ...wanted });
      expect((await ask(ada, 'PATCH', url, { critical_breaks_through: true })).data).toEqual({
        ...none,
        ...wanted,
        critical_breaks_through: true,
      });
      expect((await ask(ada, 'PATCH', url, { quiet_from: null, quiet_to: null })).data).toMatchObject({ quiet_from: null, locale: 'es' });
      const digest = { digest: 'daily', digest_at: 390, digest_kinds: ['job.*', 'fault.high_cpu'] };
      expect((await ask(ada, 'PATCH', url, digest)).data).toMatchObject({ ...digest, locale: 'es' });
      expect((await ask(ada, 'PATCH', url, { digest: null })).data).toMatchObject({ ...digest, digest: null });
      expect((await ask(bob, 'GET', url)).data).toEqual(none);
    });

    test.each([
      ['time_zone', { time_zone: '+01:00' }],
      ['locale', { locale: 'fr' }],
      ['quiet_to', { quiet_from: 60 }],
      ['quiet_from', { quiet_to: 60 }],
      ['quiet_to', { quiet_from: 60, quiet_to: 60 }],
      ['default_channel', { default_channel: 'sms' }],
      ['digest', { digest: 'weekly' }],
      ['digest_at', { digest_at: 1440 }],
      ['digest_kinds.1', { digest_kinds: ['job.*', 'Reboots!'] }],
    ])('%s is refused by name: %j', async (field, body) => {
      expect((await ask(ada, 'PATCH', url, body)).body).toMatchObject({ errors: { [field]: [expect.any(String)] } });
    });
  });

  describe('a group', () => {
    async function group(body: object): Promise<string> {
      const { status, body: answer } = await ask(bob, 'POST', '/api/groups', { name: 'G', ...body });
      expect(status, JSON.stringify(answer)).toBe(200);
      return answer['id'] as string;
    }
    const reaches = async (id: string): Promise<unknown> => (await ask(bob, 'GET', `/api/groups/${id}`)).body['reaches'];
    const states = async (id: string): Promise<unknown[]> =>
      (await ask(bob, 'GET', `/api/groups/${id}/reach`)).rows.map(({ user_id: who, channel, state }) => [
        who === ada ? 'ada' : 'bob',
        channel,
        state,
      ]);

    test('reaches proved addresses, each once, and says why not the others', async () => {
      const id = await group({
        recipients: [ada, bob],
        notifiables: [
          { id: ada, channel: 'email' },
          { id: bob, channel: 'sms' },
        ],
      });
      expect(await reaches(id)).toBe(0);
      expect(await states(id)).toEqual([
        ['ada', 'email', 'unverified'],
        ['bob', 'sms', 'no_address'],
        ['ada', 'email', 'unverified'],
        ['bob', 'email', 'unverified'],
      ]);
      await new TeamsService({ storage, clock }).confirmEmail('ada@example.org');
      await proved(bob);
      await ask(bob, 'PATCH', '/api/me/notification-settings', { default_channel: 'sms' });
      expect(await reaches(id)).toBe(2);
      expect(await states(id)).toEqual([
        ['ada', 'email', 'reached'],
        ['bob', 'sms', 'reached'],
        ['ada', 'email', 'duplicate'],
        ['bob', 'sms', 'duplicate'],
      ]);
      await ask(ada, 'PATCH', `/api/me/contacts/${ada}`, { off: true });
      expect(await states(id)).toContainEqual(['ada', 'email', 'off']);
      expect(await reaches(id)).toBe(1);
      expect((await ask(bob, 'GET', '/api/groups')).rows).toMatchObject([{ id, reaches: 1 }]);
    });

    test('an address that a person has proved goes before the email of the account', async () => {
      await new TeamsService({ storage, clock }).confirmEmail('ada@example.org');
      const id = await add(ada, { channel: 'email', address: 'alerts@example.net' });
      const groupId = await group({ recipients: [ada] });
      const shown = async (): Promise<unknown> => (await ask(bob, 'GET', `/api/groups/${groupId}/reach`)).rows.map((row) => row['address']);
      expect(await shown(), 'not proved yet').toEqual(['a•••@example.org']);
      await sendCode(ada, id);
      await visit('POST', sent.at(-1)!.message.thread.url, '');
      expect(await shown()).toEqual(['a•••@example.net']);
    });

    describe('is left', () => {
      let id: string;
      let topic: string;
      let link: string;

      beforeEach(async () => {
        await new TeamsService({ storage, clock }).confirmEmail('ada@example.org');
        topic = (await new TopicsService({ storage, clock }).create(north, { name: 'Outages', events: ['fault.*'] })).id;
        id = await group({ recipients: [ada], topics: [topic] });
        link = made.messageLinks.unsubscribeUrl({ teamId: north, userId: ada, groupId: id, topicIds: [topic] });
      });
      const reachOf = async (topicIds: string[]) =>
        made.groupAddresses.addressesOf(storage.db, north, { id, recipients: [ada], notifiables: [], targets: [] }, topicIds);

      test('by no GET, however often a scanner opens the link', async () => {
        for (let i = 0; i < 5; i += 1) {
          const page = await visit('GET', link);
          expect(page.statusCode).toBe(200);
          expect(page.body).toContain('ada@example.org');
        }
        expect(await states(id)).toEqual([['ada', 'email', 'reached']]);
        expect(await storage.db.selectFrom('notification_optouts').selectAll().execute()).toEqual([]);
      });

      test.each([
        ['application/x-www-form-urlencoded', 'List-Unsubscribe=One-Click'],
        ['multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n'],
      ])('by one click of the mail program: a POST of %s', async (type, payload) => {
        expect((await visit('POST', link, payload, type)).statusCode).toBe(200);
        await visit('POST', link, payload, type);
        expect(await states(id)).toEqual([['ada', 'email', 'unsubscribed']]);
        expect(await reaches(id)).toBe(0);
        const other = await group({ name: 'Other', recipients: [ada] });
        expect(await states(other), 'another group').toEqual([['ada', 'email', 'reached']]);
      });

      test.each([
        [422, 'must be all, group, topic', 'scope=everything', undefined],
        [413, 'the form is larger than 4 KiB', `scope=${'x'.repeat(5000)}`, undefined],
        [415, 'must be application/x-www-form-urlencoded or multipart/form-data', '{"scope":"all"}', 'application/json'],
      ])('by no form that is wrong: %i, %s', async (status, words, payload, type) => {
        const answer = await visit('POST', link, payload, type);
        expect([answer.statusCode, answer.body]).toEqual([status, expect.stringContaining(words)]);
        expect(await states(id)).toEqual([['ada', 'email', 'reached']]);
      });

      test('for one topic: other topics of the group still come', async () => {
        await visit('POST', link, 'scope=topic');
        expect((await reachOf([topic])).missed).toMatchObject([{ reason: 'unsubscribed' }]);
        expect((await reachOf([topic, 'another'])).reached).toHaveLength(1);
        expect((await reachOf(['another'])).reached).toHaveLength(1);
      });

      test('for everything of the team', async () => {
        await visit('POST', link, 'scope=all');
        const other = await group({ name: 'Other', recipients: [ada] });
        expect(await states(other)).toEqual([['ada', 'email', 'unsubscribed']]);
      });

      test('by a link of a message that came by twenty topics', async () => {
        const topicIds = Array.from({ length: 20 }, () => newId(clock.now()));
        const long = made.messageLinks.unsubscribeUrl({ teamId: north, userId: ada, groupId: id, topicIds });
        expect((await visit('GET', long)).statusCode).toBe(200);
        expect((await visit('POST', long, '')).statusCode).toBe(200);
        expect(await states(id)).toEqual([['ada', 'email', 'unsubscribed']]);
      });

      test('until the person wants it again; an administrator cannot undo it', async () => {
        await visit('POST', link, '');
        const [optout] = (await ask(ada, 'GET', '/api/me/unsubscriptions')).rows;
        expect(optout).toMatchObject({ scope: 'group', scope_id: id });
        expect((await ask(bob, 'DELETE', `/api/me/unsubscriptions/${String(optout!['id'])}`)).status).toBe(404);
        expect((await ask(bob, 'PUT', `/${id}`, { recipients: [ada], notifiables: [{ id: ada, channel: 'email' }] })).body).toMatchObject({
          reaches: 0,
        });
        expect((await ask(ada, 'DELETE', `/api/me/unsubscriptions/${String(optout!['id'])}`)).status).toBe(204);
        expect(await reaches(id)).toBe(1);
      });

      test('by nobody with a link that is not ours', async () => {
        const [payload, signature] = link.split('/').at(-1)!.split('.') as [string, string];
        const other = Buffer.from(JSON.stringify([north, bob, id, []])).toString('base64url');
        for (const token of [`${other}.${signature}`, `${payload}.${signature.slice(1)}`, payload, 'x.y'])
          expect((await visit('POST', `https://signalbox.test/mail/unsubscribe/${token}`, '')).statusCode, token).toBe(404);
        expect(await storage.db.selectFrom('notification_optouts').selectAll().execute()).toEqual([]);
      });

      test('a person who has left the team leaves nothing behind', async () => {
        await visit('POST', link, '');
        await storage.db.deleteFrom('members').where('user_id', '=', ada).execute();
        expect(await storage.db.selectFrom('notification_optouts').selectAll().execute()).toEqual([]);
        expect((await visit('POST', link, '')).statusCode).toBe(200);
        expect((await visit('GET', link)).statusCode).toBe(404);
      });
    });

    test('line by line: the address to send to, or the reason', async () => {
      await proved(ada);
      const [sms, email, nobody] = await made.groupAddresses.reach(storage.db, north, [
        { userId: ada, channel: 'sms' },
        { userId: ada, channel: undefined },
        { userId: 'nobody', channel: 'email' },
      ]);
      expect(sms).toEqual({ state: 'ok', address: { channel: 'sms', to: '+34600123456' } });
      expect([email, nobody]).toEqual([{ state: 'unverified' }, { state: 'no_address' }]);
    });

    test('of another team sees nothing of a person’s addresses', async () => {
      await proved(ada);
      const reach = await made.groupAddresses.addressesOf(storage.db, south, {
        id: 'g',
        recipients: [ada],
        notifiables: [{ id: ada, channel: 'sms' }],
        targets: [],
      });
      expect(reach.reached).toEqual([]);
      expect(reach.missed.map(({ reason, shown }) => [reason, shown])).toEqual([
        ['no_address', null],
        ['no_address', null],
      ]);
    });
  });
});
