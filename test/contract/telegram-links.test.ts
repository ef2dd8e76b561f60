import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contactRoutes } from '../../server/outbound/notifications/contacts/routes.ts';
import { TelegramLinks } from '../../server/outbound/notifications/telegram/service.ts';
import { telegramRoutes } from '../../server/outbound/notifications/telegram/routes.ts';
import { LINK } from '../../server/outbound/notifications/telegram/types.ts';
import { CATALOGUES } from '../../server/outbound/notifications/texts/catalogues.ts';
import { TeamsService } from '../../server/access/teams/service.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { Secrets } from '../../server/platform/storage/secrets.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { makeAddresses } from '../harness/notification-addresses.ts';
import type { Addresses } from '../harness/notification-addresses.ts';
import { TelegramBotStandIn, refused } from '../harness/notify/telegram-bot.ts';
import type { PlaneOptions } from '../harness/notify/telegram-plane.ts';
import { TelegramPlane, TokenFile } from '../harness/notify/telegram-plane.ts';
import { TeamApp } from '../harness/team-app.ts';
import { waitUntil } from '../harness/wait-until.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const TOKEN = '123456:AA-secret_token';
const CHAT = 4711;

interface Answer {
  status: number;
  data: Record<string, unknown>;
  body: Record<string, unknown>;
}
interface Link {
  id: string;
  token: string;
}

describeEachDatabase('a Telegram chat', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let telegram: TelegramBotStandIn;
  let token: TokenFile;
  let made: Addresses;
  let planes: TelegramPlane[];
  /** The one that is asked for links. */
  let plane: TelegramPlane;
  let links: TelegramLinks;
  let app: TeamApp;
  let north: string;
  let ada: string;
  let bob: string;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(Date.parse('2026-01-05T12:00:00Z'));
    telegram = await TelegramBotStandIn.start(TOKEN);
    token = new TokenFile(TOKEN);
    made = makeAddresses({ storage, clock });
    planes = [];
    links = new TelegramLinks({
      storage,
      clock,
      secrets: new Secrets([{ kid: 'one', bytes: Buffer.alloc(32, 1) }]),
      contacts: made.contacts,
      bot: { username: (signal) => plane.bot.username(signal) },
      onLink: () => plane.reader.wake(),
    });
    plane = newPlane();
    app = new TeamApp((scope) => {
      contactRoutes(scope, made);
      telegramRoutes(scope, { telegramLinks: links });
    });
    const teams = new TeamsService({ storage, clock });
    north = (await teams.createTeam('North')).id;
    ada = (await teams.createUser({ teamId: north, email: 'ada@example.org', role: 'viewer' })).member.userId;
    bob = (await teams.createUser({ teamId: north, email: 'bob@example.org', role: 'admin' })).member.userId;
  });
  afterEach(async () => {
    expect(telegram.problems).toEqual([]);
    for (const one of planes) await one.stop();
    await telegram.close();
  });

  function newPlane(more: Partial<PlaneOptions> = {}): TelegramPlane {
    const another = new TelegramPlane({ storage, clock, contacts: made.contacts, links, apiUrl: telegram.url, token, ...more });
    planes.push(another);
    return another;
  }
  async function ask(userId: string, method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object): Promise<Answer> {
    const headers = { authorization: `Bearer ${north}/admin/${userId}` };
    const answer = await app.app.inject({ method, url, headers, ...(payload ? { payload } : {}) });
    const body = answer.body === '' ? {} : answer.json<Record<string, unknown>>();
    return { status: answer.statusCode, data: body['data'] as Record<string, unknown>, body };
  }
  const newLink = (userId: string): Promise<Answer> => ask(userId, 'POST', '/api/me/telegram-links');
  async function link(userId: string): Promise<Link> {
    const { status, data, body } = await newLink(userId);
    expect(status, JSON.stringify(body)).toBe(200);
    const { searchParams } = new URL(data['url'] as string);
    return { id: data['id'] as string, token: searchParams.get('start')! };
  }
  const stateOf = async (userId: string, id: string): Promise<Record<string, unknown>> =>
    (await ask(userId, 'GET', `/api/me/telegram-links/${id}`)).data;
  const chats = async (userId: string): Promise<Record<string, unknown>[]> =>
    ((await ask(userId, 'GET', '/api/me/contacts')).data as unknown as Record<string, unknown>[]).filter(
      ({ channel }) => channel === 'telegram',
    );
  /** Somebody has opened a link and pressed Start. */
  const press = (text: string, chatId = CHAT, more: { language?: string; at?: number } = {}): void =>
    telegram.write({ chatId, text: `/start ${text}`, at: clock.now(), ...more });
  const reading = (): Promise<unknown> => waitUntil('the messages to the bot are read', () => telegram.waiting > 0);
  const isTaken = (): Promise<unknown> => waitUntil('the messages are taken', async () => (await position()) > 0 && telegram.waiting > 0);
  const position = async (): Promise<number> =>
    (await storage.db.selectFrom('telegram_readers').select('next_update').executeTakeFirst())?.next_update ?? 0;
  const proved = (userId: string, id: string): Promise<unknown> =>
    waitUntil('the chat is proved', async () => (await stateOf(userId, id))['state'] === 'proved');
  const idle = (): Promise<void> => plane.reader.idle();
  const says = (text: string): Promise<unknown> => waitUntil(`the bot says: ${text}`, () => telegram.said.some((one) => one.text === text));

  test('is proved by a link that the person opens; the bot says so, and reads only while the link waits', async () => {
    expect(telegram.count('getUpdates')).toBe(0);
    const { status, data } = await newLink(ada);
    expect(status).toBe(200);
    expect(data).toMatchObject({ state: 'waiting', problem: null, contact_id: null, expires_at: '2026-01-05T12:10:00.000Z' });
    expect(data['url']).toMatch(/^https:\/\/t\.me\/depot_signalbox_bot\?start=[A-Za-z0-9]{40}$/);
    const id = data['id'] as string;
    await reading();
    expect(await stateOf(ada, id)).not.toHaveProperty('url');
    press(new URL(data['url'] as string).searchParams.get('start')!);
    await proved(ada, id);
    await idle();
    const [chat, ...others] = await chats(ada);
    expect(others).toEqual([]);
    expect(chat).toMatchObject({ address: '4711', verified_at: '2026-01-05T12:00:00.000Z', off_reason: null });
    expect(await stateOf(ada, id)).toMatchObject({ state: 'proved', contact_id: chat!['id'] });
    expect(telegram.said).toEqual([{ chatId: '4711', text: CATALOGUES.en.bot.proved }]);
    expect(plane.proved).toEqual([{ teamId: north, userId: ada, linkId: id, shown: '•••11' }]);
    clock.advance(30 * MINUTE);
    await idle();
    expect([telegram.count('getUpdates'), telegram.waiting]).toEqual([1, 0]);
  });

  test('gets answers in the language of the person, else of their program', async () => {
    await storage.db.updateTable('users').set({ locale: 'es' }).where('id', '=', ada).execute();
    press((await link(ada)).token, 1, { language: 'de' });
    await says(CATALOGUES.es.bot.proved);
    press((await link(bob)).token, 2, { language: 'de-CH' });
    await says(CATALOGUES.de.bot.proved);
  });

  test('a link and its token are stored nowhere', async () => {
    const { token: secret } = await link(ada);
    await reading();
    press(secret);
    await says(CATALOGUES.en.bot.proved);
    await idle();
    const rows = [
      await storage.db.selectFrom('telegram_links').selectAll().execute(),
      await storage.db.selectFrom('telegram_readers').selectAll().execute(),
      await storage.db.selectFrom('contacts').selectAll().execute(),
    ];
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(JSON.stringify(rows)).not.toContain('4711');
    expect(JSON.stringify(plane.log.lines)).not.toContain('secret_token');
  });

  describe('a link', () => {
    /** Somebody else's link keeps the reader busy. */
    beforeEach(async () => {
      await link(bob);
      await reading();
    });

    test('works once: whoever opens it then learns so, and proves nothing', async () => {
      const first = await link(ada);
      press(first.token, 1);
      await proved(ada, first.id);
      press(first.token, 2);
      await says(CATALOGUES.en.bot.linkEnded);
      expect(await chats(ada)).toMatchObject([{ address: '1' }]);
    });

    test('ends after ten minutes', async () => {
      const first = await link(ada);
      clock.advance(LINK.lifeMs);
      expect(await stateOf(ada, first.id)).toMatchObject({ state: 'ended', problem: null });
      await link(bob);
      press(first.token);
      await says(CATALOGUES.en.bot.linkEnded);
      expect(await chats(ada)).toEqual([]);
    });

    test('ends with the next one', async () => {
      const [first, second] = [await link(ada), await link(ada)];
      expect(await stateOf(ada, first.id)).toMatchObject({ state: 'ended' });
      press(first.token, 1);
      await says(CATALOGUES.en.bot.linkEnded);
      press(second.token, 2);
      await proved(ada, second.id);
      expect(await chats(ada)).toMatchObject([{ address: '2' }]);
    });

    test('ends when the person takes it back, and is nobody else’s', async () => {
      const first = await link(ada);
      const at = `/api/me/telegram-links/${first.id}`;
      expect([(await ask(bob, 'GET', at)).status, (await ask(bob, 'DELETE', at)).status]).toEqual([404, 404]);
      expect((await app.ask(north, 'GET', at)).status, 'a key').toBe(403);
      expect((await ask(ada, 'DELETE', at)).status).toBe(204);
      expect((await ask(ada, 'DELETE', at)).status, 'again').toBe(204);
      press(first.token);
      await says(CATALOGUES.en.bot.linkEnded);
      expect(await chats(ada)).toEqual([]);
    });

    test('proves nothing for somebody who has left the team', async () => {
      const first = await link(ada);
      await storage.db.updateTable('members').set({ active: 0 }).where('user_id', '=', ada).execute();
      press(first.token);
      await says(CATALOGUES.en.bot.linkEnded);
      expect(await storage.db.selectFrom('contacts').selectAll().execute()).toEqual([]);
    });

    test('is needed: a start without one, or with another, is answered once a minute in each chat', async () => {
      for (const text of ['/start', '/start nonsense', `/start ${'x'.repeat(200)}`])
        telegram.write({ chatId: 1, text, at: clock.now(), language: 'es' });
      telegram.write({ chatId: 2, text: '/start nonsense', at: clock.now() });
      await waitUntil('both chats have an answer', () => telegram.said.length === 2);
      await isTaken();
      expect(telegram.said).toEqual(
        expect.arrayContaining([
          { chatId: '1', text: CATALOGUES.es.bot.noLink },
          { chatId: '2', text: CATALOGUES.en.bot.linkEnded },
        ]),
      );
      clock.advance(MINUTE);
      telegram.write({ chatId: 1, text: '/start', at: clock.now() });
      await waitUntil('the next minute', () => telegram.said.length === 3);
    });

    test('everything else is ignored: other texts, groups, bots, and what was written when nobody read', async () => {
      const at = clock.now();
      telegram.write({ chatId: 1, text: 'hello', at });
      telegram.write({ chatId: -100_200, text: '/start', at, type: 'group' });
      telegram.write({ chatId: 3, text: '/start', at, isBot: true });
      telegram.write({ chatId: 4, text: '/start', at: at - LINK.lifeMs - SECOND });
      telegram.write({ chatId: 5, text: '/start', at });
      await waitUntil('the last one is answered', () => telegram.said.length > 0);
      await isTaken();
      expect(telegram.said).toEqual([{ chatId: '5', text: CATALOGUES.en.bot.noLink }]);
    });

    test('a thousand chats are not answered all at once', async () => {
      for (let n = 1; n <= 60; n += 1) telegram.write({ chatId: n, text: '/start', at: clock.now() });
      await waitUntil('all are taken', async () => telegram.unconfirmed === 0 && telegram.waiting > 0);
      expect(telegram.said).toHaveLength(20);
      const kept = await storage.db.selectFrom('send_buckets').selectAll().where('key', 'like', 'telegram hints %').execute();
      expect(kept).toHaveLength(20);
    });
  });

  test('links are limited, and each person has one that waits', async () => {
    for (let n = 0; n < LINK.perHour; n += 1) await link(ada);
    const { status, body } = await newLink(ada);
    expect([status, body['code']]).toEqual([429, 'rate_limited']);
    await link(bob);
    const waiting = await storage.db.selectFrom('telegram_links').select('user_id').where('expires_at', '>', clock.now()).execute();
    expect(waiting.map((row) => row.user_id).toSorted()).toEqual([ada, bob].toSorted());
    clock.advance(60 * MINUTE);
    await link(ada);
  });

  test('is asked for in vain by somebody who has one, and by nobody but the person', async () => {
    const first = await link(ada);
    press(first.token);
    await proved(ada, first.id);
    expect((await newLink(ada)).body).toMatchObject({ status: 409, message: expect.stringContaining('you have an address for telegram') });
    const [chat] = await chats(ada);
    await ask(ada, 'PATCH', `/api/me/contacts/${String(chat!['id'])}`, { off: true });
    expect((await newLink(ada)).status, 'switched off by the person').toBe(409);
    await ask(ada, 'DELETE', `/api/me/contacts/${String(chat!['id'])}`);
    await link(ada);
    expect((await app.ask(north, 'POST', '/api/me/telegram-links')).status, 'a key').toBe(403);
  });

  test('takes the place of one that was typed in and not proved', async () => {
    await ask(ada, 'POST', '/api/me/contacts', { channel: 'telegram', address: '99' });
    const first = await link(ada);
    press(first.token);
    await proved(ada, first.id);
    expect(await chats(ada)).toMatchObject([{ address: '4711', verified_at: expect.any(String) }]);
  });

  test('is on again when the person has blocked the bot and opens a new link, in the same chat or another', async () => {
    const first = await link(ada);
    press(first.token);
    await proved(ada, first.id);
    const block = () => storage.db.updateTable('contacts').set({ off_reason: 'blocked', off_at: 1 }).where('user_id', '=', ada).execute();
    await block();
    const second = await link(ada);
    press(second.token);
    await proved(ada, second.id);
    expect(await chats(ada)).toMatchObject([{ address: '4711', off_reason: null, off_at: null }]);
    await block();
    const third = await link(ada);
    press(third.token, 5);
    await proved(ada, third.id);
    expect(await chats(ada)).toMatchObject([{ address: '5', off_reason: null }]);
  });

  test('needs a bot of the operator that Telegram knows', async () => {
    const without = new TelegramLinks({
      storage,
      clock,
      secrets: { fingerprints: () => ['x'] },
      contacts: made.contacts,
      bot: undefined,
      onLink: () => undefined,
    });
    await expect(without.create({ teamId: north, userId: ada })).rejects.toMatchObject({ code: 'conflict' });
    telegram.token = '123456:another';
    expect((await newLink(ada)).body).toMatchObject({ status: 409, message: expect.stringContaining('Telegram refuses the bot') });
    token.write('');
    expect((await newLink(ada)).status).toBe(409);
    token.write('123456:another');
    telegram.username = 'renamed_bot';
    expect((await newLink(ada)).data['url']).toContain('https://t.me/renamed_bot?start=');
    expect(await storage.db.selectFrom('telegram_links').selectAll().execute()).toHaveLength(1);
  });

  describe('while the messages to the bot cannot be read', () => {
    const problem = async (id: string): Promise<unknown> => (await stateOf(ada, id))['problem'];
    const until = (id: string, is: unknown): Promise<unknown> =>
      waitUntil(`the problem is ${String(is)}`, async () => (await problem(id)) === is);

    test.each([
      ['another program reads them', refused(409, 'Conflict: terminated by other getUpdates request'), 'bot_busy'],
      ['Telegram does not know the token any more', refused(401, `Unauthorized: bot${TOKEN}`), 'bot_refused'],
      ['Telegram is out of order', refused(502, 'Bad Gateway'), 'unavailable'],
      ['the connection breaks', 'cut' as const, 'unavailable'],
      ['the answer is nonsense', { status: 200, body: '<html>' }, 'unavailable'],
      ['the answer is too long', { status: 200, body: 'x'.repeat(3 * 1024 * 1024) }, 'unavailable'],
    ])('because %s, the person is told why, it is tried again, and logged once without the token', async (_what, reply, word) => {
      telegram.failures.push(reply, reply, reply);
      const first = await link(ada);
      await until(first.id, word);
      await idle();
      expect(telegram.count('getUpdates')).toBe(1);
      press(first.token);
      for (const seconds of [2, 4, 8]) {
        await idle();
        clock.advance(seconds * SECOND);
      }
      await proved(ada, first.id);
      await idle();
      expect(await problem(first.id)).toBeNull();
      expect(plane.log.shown.map(({ level, message }) => [level, message])).toEqual([
        ['warn', 'messages to the Telegram bot cannot be read; trying again'],
        ['info', 'messages to the Telegram bot can be read again'],
      ]);
      expect(plane.log.shown[0]!['reason']).toContain(`${word}: `);
      expect(JSON.stringify(plane.log.lines)).not.toContain('secret_token');
      expect(plane.reader.outcomes.read()).toEqual(
        expect.arrayContaining([
          { labels: { outcome: word }, value: 3 },
          { labels: { outcome: 'read' }, value: 1 },
        ]),
      );
    });

    test('because a webhook is set, it goes on once that is gone', async () => {
      telegram.hasWebhook = true;
      const first = await link(ada);
      await until(first.id, 'bot_busy');
      telegram.hasWebhook = false;
      await idle();
      clock.advance(2 * SECOND);
      await reading();
      expect(await problem(first.id), 'not known yet').toBe('bot_busy');
      telegram.endWait();
      await until(first.id, null);
    });

    test('because another program asks again and again, that is said all the time and logged once', async () => {
      telegram.failures.push(refused(409, 'Conflict: terminated by other getUpdates request'));
      const first = await link(ada);
      await until(first.id, 'bot_busy');
      for (const seconds of [2, 4, 8, 16]) {
        await idle();
        clock.advance(seconds * SECOND);
        await reading();
        telegram.interfere();
        await idle();
        expect(await problem(first.id)).toBe('bot_busy');
      }
      expect(plane.log.shown).toHaveLength(1);
    });

    test('because Telegram wants a pause, nothing is asked before its end', async () => {
      telegram.failures.push(refused(429, 'Too Many Requests: retry after 35', { retry_after: 35 }));
      const first = await link(ada);
      await until(first.id, 'rate_limited');
      await idle();
      for (let n = 0; n < 34; n += 1) {
        clock.advance(SECOND);
        await idle();
      }
      expect(telegram.count('getUpdates')).toBe(1);
      clock.advance(SECOND);
      await waitUntil('it is asked again', () => telegram.count('getUpdates') === 2);
      telegram.endWait();
      await until(first.id, null);
    });

    test('because Telegram wants a long pause, who asks for a link meanwhile is told, too', async () => {
      telegram.failures.push(refused(429, 'Too Many Requests: retry after 3600', { retry_after: 3600 }));
      await until((await link(ada)).id, 'rate_limited');
      await idle();
      clock.advance(LINK.lifeMs);
      const second = await link(ada);
      await idle();
      expect(await problem(second.id)).toBe('rate_limited');
      expect(telegram.count('getUpdates')).toBe(1);
    });

    test('because Telegram is silent, the request ends by itself', async () => {
      plane = newPlane({ readWithinMs: 200 });
      telegram.failures.push('hang');
      const first = await link(ada);
      await until(first.id, 'unavailable');
    });

    test('what was a problem for an earlier link is none of the next one', async () => {
      telegram.failures.push(refused(409, 'Conflict'));
      const first = await link(ada);
      await until(first.id, 'bot_busy');
      await idle();
      clock.advance(LINK.lifeMs);
      await idle();
      telegram.failures.push('hang');
      expect((await newLink(ada)).data).toMatchObject({ problem: null });
      expect(await problem((await link(ada)).id)).toBeNull();
    });

    test('a server that does not wait is asked once a second', async () => {
      telegram.failures.push(...Array.from({ length: 50 }, () => ({ status: 200, body: { ok: true, result: [] } })));
      await link(ada);
      await waitUntil('it was asked', () => telegram.count('getUpdates') === 1);
      for (let n = 0; n < 10; n += 1) {
        await idle();
        clock.advance(SECOND);
      }
      await idle();
      expect(telegram.count('getUpdates')).toBe(11);
    });
  });

  describe('with several control planes', () => {
    test('one reads at a time, whoever made the link', async () => {
      const others = [newPlane(), newPlane()];
      const first = await link(ada);
      await reading();
      for (let n = 0; n < 4; n += 1) {
        for (const one of [plane, ...others]) one.reader.wake();
        await others[0]!.reader.idle();
        await others[1]!.reader.idle();
        clock.advance(10 * SECOND);
      }
      expect([telegram.count('getUpdates'), telegram.conflicts]).toEqual([1, 0]);
      press(first.token);
      await proved(ada, first.id);
    });

    test('a kill between reading and storing loses nothing, and proves nothing twice', async () => {
      const other = newPlane();
      const first = await link(ada);
      await reading();
      const killed = plane;
      killed.kill();
      press(first.token);
      await killed.reader.idle();
      expect(await stateOf(ada, first.id)).toMatchObject({ state: 'waiting' });
      expect(telegram.said).toEqual([]);
      other.reader.wake();
      await other.reader.idle();
      expect(telegram.count('getUpdates'), 'while the claim holds').toBe(1);
      plane = other;
      clock.advance(MINUTE);
      await proved(ada, first.id);
      await other.reader.idle();
      expect([killed.proved.length, other.proved.length, telegram.said.length]).toEqual([0, 1, 1]);
      expect(await chats(ada)).toHaveLength(1);
    });

    test('who was slow and has lost the claim stores nothing of what was read', async () => {
      const other = newPlane();
      const first = await link(ada);
      await reading();
      clock.advance(MINUTE);
      other.reader.wake();
      await waitUntil('the other one reads', () => telegram.count('getUpdates') === 2 && telegram.waiting === 1);
      press(first.token);
      await proved(ada, first.id);
      await Promise.all([plane.reader.idle(), other.reader.idle()]);
      expect([plane.proved.length, other.proved.length]).toEqual([0, 1]);
      expect(plane.log.shown).toEqual([]);
    });

    test('one that stops gives the reading to another at once', async () => {
      const first = await link(ada);
      await reading();
      await plane.reader.stop();
      plane = newPlane();
      plane.reader.wake();
      await waitUntil('the other one reads', () => telegram.count('getUpdates') === 2);
      press(first.token);
      await proved(ada, first.id);
    });

    test('a restart neither repeats nor skips a message', async () => {
      const first = await link(ada);
      press(first.token, 1);
      await proved(ada, first.id);
      await idle();
      const next = await position();
      await plane.reader.stop();
      telegram.write({ chatId: 2, text: '/start', at: clock.now() });
      plane = newPlane();
      const second = await link(bob);
      await says(CATALOGUES.en.bot.noLink);
      press(second.token, 3);
      await proved(bob, second.id);
      await idle();
      expect(telegram.offsets.slice(0, 2)).toEqual([undefined, next]);
      expect(telegram.said.map(({ chatId }) => chatId)).toEqual(['1', '2', '3']);
    });
  });

  test('is proved when Telegram counts its messages anew after a quiet time, and by another bot', async () => {
    const first = await link(ada);
    press(first.token, 1);
    await proved(ada, first.id);
    await idle();
    clock.advance(8 * DAY);
    telegram.endWait();
    telegram.renumber(5);
    const second = await link(bob);
    press(second.token, 2);
    await proved(bob, second.id);
    await idle();
    expect(telegram.offsets.at(-1)).toBeUndefined();
    await ask(ada, 'DELETE', `/api/me/contacts/${String((await chats(ada))[0]!['id'])}`);
    telegram.token = '777:other-secret_token';
    token.write('777:other-secret_token');
    telegram.renumber(2);
    const third = await link(ada);
    press(third.token, 3);
    await proved(ada, third.id);
    expect(telegram.offsets.at(-1)).toBeUndefined();
  });

  test('costs one query each 30 s and no request while no link waits', async () => {
    const first = await link(ada);
    press(first.token);
    await proved(ada, first.id);
    await idle();
    await plane.stop();
    const seen = { queries: 0, writes: 0 };
    const db = storage.db.withPlugin({
      transformQuery: ({ node }) => {
        seen.queries += 1;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const write: Storage['writes']['write'] = (work) => {
      seen.writes += 1;
      return storage.writes.write(work);
    };
    const quiet = newPlane({ storage: { ...storage, db, writes: { write } } });
    const requests = telegram.count('getUpdates') + telegram.count('getMe');
    quiet.reader.wake();
    await quiet.reader.idle();
    for (let n = 0; n < 300; n += 1) {
      clock.advance(SECOND);
      await quiet.reader.idle();
    }
    expect(seen).toEqual({ queries: 11, writes: 0 });
    expect(telegram.count('getUpdates') + telegram.count('getMe')).toBe(requests);
  });

  test('old links are deleted', async () => {
    await link(ada);
    clock.advance(3 * DAY);
    await link(bob);
    await links.sweep();
    expect(await storage.db.selectFrom('telegram_links').select('user_id').execute()).toEqual([{ user_id: bob }]);
  });
});
