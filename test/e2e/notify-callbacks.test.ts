import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MetaStandIn, TwilioStandIn } from '../harness/notify/callbacks.ts';
import { seedPerson } from '../harness/notify-bench.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { World } from '../harness/world.ts';

/** Providers that say later what became of a message: through the real HTTP server, which is behind a proxy with another name. */

const PUBLIC_URL = 'https://signalbox.example.net';
const NUMBER = '+34600123456';

interface Logged {
  id: string;
  thread_id: string;
  channel: string;
  kind: string;
  state: string;
  reason: string | null;
  delivered_at: string | null;
  read_at: string | null;
  attempts: { outcome: string; error: string | null; detail: string | null }[];
}

describe('callbacks of providers', () => {
  let folder: string;
  let twilio: TwilioStandIn;
  let meta: MetaStandIn;
  let world: World;
  let group: string;
  /** As the proxy passes them on. */
  let sms: { to: string };
  let whatsapp: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-callbacks-'));
    const file = async (name: string, text: string): Promise<string> => {
      await writeFile(path.join(folder, name), `${text}\n`);
      return path.join(folder, name);
    };
    twilio = await TwilioStandIn.start('the token of the account');
    meta = await MetaStandIn.start('the secret of the app');
    world = await World.start({
      server: {
        SIGNALBOX_PUBLIC_URL: PUBLIC_URL,
        SIGNALBOX_SMS_ACCOUNT: 'AC0123456789',
        SIGNALBOX_SMS_TOKEN_FILE: await file('sms', 'the token of the account'),
        SIGNALBOX_SMS_FROM: '+15550100123',
        SIGNALBOX_SMS_URL: twilio.account.url,
        SIGNALBOX_WHATSAPP_PHONE_NUMBER_ID: '106540352242922',
        SIGNALBOX_WHATSAPP_TOKEN_FILE: await file('whatsapp', 'token-of-the-number'),
        SIGNALBOX_WHATSAPP_APP_SECRET_FILE: await file('app', 'the secret of the app'),
        SIGNALBOX_WHATSAPP_VERIFY_TOKEN_FILE: await file('verify', 'let me in'),
        SIGNALBOX_WHATSAPP_URL: `${meta.account.url}/v23.0`,
      },
    });
    sms = { to: `${world.server.url}/callbacks/sms` };
    whatsapp = `${world.server.url}/callbacks/whatsapp`;
    await world.routerIds();
    const { storage, contacts } = world.server.services;
    const ada = await seedPerson(storage, world.caller.teamId, 'ada@example.org');
    const owner = { teamId: world.caller.teamId, userId: ada };
    for (const channel of ['sms', 'whatsapp'] as const) await contacts.add(owner, channel, { address: NUMBER });
    await storage.db.updateTable('contacts').set({ verified_at: 1 }).execute();
    await contacts.change(owner, { defaultChannel: 'sms' });
    const topic = await world.caller.call<{ data: { id: string } }>('POST', '/api/topics', { name: 'Outages', events: ['fault.*'] });
    await world.caller.call('POST', '/api/groups', { name: 'On call', topics: [topic.body.data.id], recipients: [ada] });
    const groups = await world.caller.call<{ data: { id: string }[] }>('GET', '/api/groups');
    group = groups.body.data[0]!.id;
  });
  afterAll(async () => {
    await world.close();
    await twilio.close();
    await meta.close();
    await rm(folder, { recursive: true, force: true });
  });

  const log = async (): Promise<Logged[]> => (await world.caller.call<{ data: Logged[] }>('GET', '/api/notifications')).body.data;
  const get = (query: string): Promise<Response> => fetch(`${whatsapp}${query}`);

  test('a text message says that it was delivered, to whoever signs for the public address', async () => {
    const tested = await world.caller.call('POST', `/api/groups/${group}/test`);
    expect(tested.status, JSON.stringify(tested.body)).toBe(200);
    expect(twilio.callbackOf(1)).toBe(`${PUBLIC_URL}/callbacks/sms`);
    expect(await twilio.say(1, 'sent', undefined, sms)).toBe(204);
    expect(await twilio.say(1, 'delivered', undefined, { ...sms, key: 'a guess' })).toBe(403);
    // Twilio would not sign this: the query is part of the address.
    expect(await twilio.say(1, 'delivered', undefined, { to: `${sms.to}?more=1` })).toBe(403);
    const [before] = await log();
    expect(before).toMatchObject({ channel: 'sms', kind: 'test', state: 'sent', delivered_at: null, read_at: null });
    expect(await twilio.say(1, 'delivered', undefined, sms)).toBe(204);
    expect(await twilio.say(1, 'undelivered', 30_003, sms)).toBe(204);
    const [after] = await log();
    expect(after).toMatchObject({ state: 'sent', delivered_at: expect.any(String), read_at: null });
    const ofThread = await world.caller.call<{ data: Logged[] }>('GET', `/api/threads/${after!.thread_id}/messages`);
    expect(ofThread.body.data).toMatchObject([{ id: after!.id, delivered_at: after!.delivered_at }]);
    expect(await twilio.say(1, 'delivered', undefined, sms)).toBe(204);
    expect((await log())[0]).toEqual(after);
  });

  test('an outage that a telephone did not get comes by WhatsApp, once, and is read there', async () => {
    const n = twilio.account.requests.length + 1;
    await world.agent?.close();
    world.agent = undefined;
    await waitUntil('the opening is told', () => (twilio.account.requests.length === n ? true : undefined), 20_000);
    // Faster than the record of what the provider took, and again.
    expect(await twilio.say(n, 'undelivered', 30_005, sms)).toBe(204);
    await waitUntil('it comes by WhatsApp', () => (meta.account.requests.length > 0 ? true : undefined), 15_000);
    expect(await twilio.say(n, 'undelivered', 30_005, sms)).toBe(204);
    const read = await waitUntil('it is read', async () => {
      const at = Date.now();
      // Read comes before delivered, and both in one request.
      const statuses = ['read', 'delivered', 'sent'].map((status) => ({ n: 1, status, at }));
      expect(await meta.say(whatsapp, statuses)).toBe(200);
      return (await log()).find(({ channel, read_at: readAt }) => channel === 'whatsapp' && readAt !== null);
    });
    expect(read).toMatchObject({ state: 'sent', reason: 'fallback', kind: 'open', delivered_at: read.read_at });
    const opening = (await log()).filter(({ thread_id: id }) => id === read.thread_id);
    expect(opening).toHaveLength(2);
    expect(opening.find(({ channel }) => channel === 'sms')).toMatchObject({
      state: 'failed',
      reason: 'no_account',
      attempts: [{ outcome: 'sent' }, { outcome: 'undelivered', error: 'gone', detail: '30005 Unknown destination handset' }],
    });
    expect(meta.account.requests).toHaveLength(1);
    expect([...twilio.account.problems, ...meta.account.problems]).toEqual([]);
  });

  test('Meta learns that the address is ours by the right token only, and is heard by the right signature only', async () => {
    const asked = '?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=';
    const told = await get(`${asked}let%20me%20in`);
    expect([told.status, told.headers.get('content-type'), await told.text()]).toEqual([200, 'text/plain; charset=utf-8', '1158201444']);
    for (const wrong of [
      `${asked}open`,
      asked,
      '',
      '?hub.mode=subscribe',
      '?hub.challenge=<b>&hub.mode=subscribe&hub.verify_token=let%20me%20in',
    ])
      expect((await get(wrong)).status, wrong).toBe(403);
    const statuses = [{ n: 1, status: 'failed', at: Date.now(), error: { code: 131_026, title: 'Message undeliverable' } }];
    expect(await meta.say(whatsapp, statuses, { key: 'a guess' })).toBe(403);
    // Somebody who guesses hears the same of what there is and of what there is not.
    expect(await meta.say(whatsapp, [{ ...statuses[0]!, n: 99 }], { key: 'a guess' })).toBe(403);
    expect(await meta.say(whatsapp, [{ ...statuses[0]!, n: 99 }])).toBe(200);
  });

  test('what is too large, or nothing that a provider sends, is not read', async () => {
    const post = async (url: string, type: string, body: string): Promise<number> =>
      (await fetch(url, { method: 'POST', headers: { 'content-type': type }, body })).status;
    expect(await post(sms.to, 'application/x-www-form-urlencoded', `a=${'x'.repeat(20_000)}`)).toBe(413);
    expect(await post(whatsapp, 'application/json', `"${'x'.repeat(1_100_000)}"`)).toBe(413);
    expect(await post(sms.to, 'application/json', '{}')).toBe(403);
    expect(await post(sms.to, 'text/plain', 'x')).toBe(415);
    expect(await post(whatsapp, 'application/json', '')).toBe(403);
  });
});

test('without accounts nothing is there, and even so nobody may ask without an end', async () => {
  const world = await World.start({ routers: [], server: { SIGNALBOX_RATE_LIMIT_PER_MINUTE: '1' } });
  try {
    const ask = async (): Promise<number> => (await fetch(`${world.server.url}/callbacks/whatsapp`)).status;
    const answers: number[] = [];
    for (let n = 0; n < 101; n += 1) answers.push(await ask());
    expect(answers).toEqual([...Array.from({ length: 100 }, () => 404), 429]);
    const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'MessageSid=SM1' };
    expect((await fetch(`${world.server.url}/callbacks/sms`, form)).status).toBe(429);
  } finally {
    await world.close();
  }
});
