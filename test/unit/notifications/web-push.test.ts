import { createECDH } from 'node:crypto';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { pushPayload } from '../../../server/outbound/notifications/channels/web-push/channel.ts';
import { encryptFor, MAX_PLAIN_BYTES, newEphemeral } from '../../../server/outbound/notifications/channels/web-push/encrypt.ts';
import { newVapidKeys, publicKeyOf, vapidHeader } from '../../../server/outbound/notifications/channels/web-push/vapid.ts';
import { PushReceiver } from '../../harness/notify/providers.ts';
import { agentAway, FIRST_AT, messageOf, named, viewOf } from '../../harness/notify/views.ts';

/** RFC 8291 section 5 and appendix A. */
const RFC = {
  plain: 'When I grow up, I want to be a watermelon',
  senderPrivate: 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw',
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  salt: 'DGv6ra1nlYgDCS1FRnbzlw',
  body:
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT' +
    'pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
};

describe('encryption', () => {
  test('gives the bytes of the RFC for its keys', () => {
    const key = createECDH('prime256v1');
    key.setPrivateKey(Buffer.from(RFC.senderPrivate, 'base64url'));
    const body = encryptFor(RFC, Buffer.from(RFC.plain), { key, salt: Buffer.from(RFC.salt, 'base64url') });
    expect(body.toString('base64url')).toBe(RFC.body);
  });

  test('can be read by the browser, and never repeats a key or a salt', () => {
    const browser = new PushReceiver();
    const bodies = [1, 2].map(() => encryptFor(browser, Buffer.from('{"title":"Depot Madrid"}')));
    for (const body of bodies) expect(browser.read(body)).toEqual({ title: 'Depot Madrid' });
    expect(bodies[0]!.subarray(0, 86)).not.toEqual(bodies[1]!.subarray(0, 86));
  });

  test('takes the longest message, and says no to a longer one and to keys of another kind', () => {
    const browser = new PushReceiver();
    expect(encryptFor(browser, Buffer.alloc(MAX_PLAIN_BYTES, 'x'))).toHaveLength(4096);
    expect(() => encryptFor(browser, Buffer.alloc(MAX_PLAIN_BYTES + 1))).toThrow('too long');
    for (const wrong of [{ p256dh: 'AAAA' }, { auth: 'AAAA' }, { p256dh: Buffer.alloc(65, 4).toString('base64url') }, { p256dh: '' }]) {
      expect(() => encryptFor({ p256dh: browser.p256dh, auth: browser.auth, ...wrong }, Buffer.from('x'))).toThrow('not valid');
    }
    expect(newEphemeral().salt).toHaveLength(16);
  });
});

test('the token names the push service, ends within a day, and is signed by the key that the browser knows', async () => {
  const keys = await newVapidKeys();
  const header = await vapidHeader(keys, 'https://push.example.com/send/abc', 'mailto:ops@example.com', Date.now());
  const [, token, key] = /^vapid t=([^,]+), k=(.+)$/.exec(header)!;
  expect(key).toBe(keys.publicKey);
  const point = Buffer.from(key!, 'base64url');
  const jwk = { kty: 'EC', crv: 'P-256', x: point.subarray(1, 33).toString('base64url'), y: point.subarray(33).toString('base64url') };
  const { payload } = await jwtVerify(token!, createLocalJWKSet({ keys: [jwk] }), { algorithms: ['ES256'] });
  expect(payload).toMatchObject({ aud: 'https://push.example.com', sub: 'mailto:ops@example.com' });
  expect(payload.exp! - Date.now() / 1000).toBeLessThan(24 * 3600);
  expect(publicKeyOf(keys.privateJwk)).toBe(keys.publicKey);
});

test('a message fits, whatever routers are called', () => {
  for (const name of ['水', '"\\', '🚀', '\u0001', 'a.b']) {
    const long = named(name.repeat(400));
    const item = { text: long.name, router: long, site: long, openedAt: FIRST_AT, resolvedAt: null };
    const view = viewOf(
      { type: 'router', router: long, site: long, fault: 'move_requested', detail: long.name },
      { items: Array.from({ length: 10 }, () => item), itemCount: 812, acknowledgedBy: long.name, team: long.name },
    );
    for (const locale of ['en', 'de', 'es'] as const) {
      const payload = JSON.stringify(pushPayload(messageOf(view, { locale })));
      expect(Buffer.byteLength(payload)).toBeLessThanOrEqual(MAX_PLAIN_BYTES);
    }
  }
  expect(pushPayload(messageOf(agentAway()))).toMatchObject({ title: 'Depot Madrid: agent away since 08:31, 500 routers not visible' });
});
