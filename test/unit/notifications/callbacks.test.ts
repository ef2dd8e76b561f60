import { mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, inject, test } from 'vitest';
import { smsCallbackUrl } from '../../../server/outbound/notifications/callbacks/address.ts';
import { ProviderCallbacks } from '../../../server/outbound/notifications/callbacks/service.ts';
import { isSignedByMeta, isSignedByTwilio, twilioSignature } from '../../../server/outbound/notifications/callbacks/signatures.ts';
import { readSmsStatus } from '../../../server/outbound/notifications/callbacks/sms-status.ts';
import { readWhatsappStatuses } from '../../../server/outbound/notifications/callbacks/whatsapp-status.ts';
import type { Receipt } from '../../../server/outbound/notifications/channels/types.ts';
import { signAsMeta, signAsTwilio } from '../../harness/notify/callbacks.ts';

/** What providers call us with: whether it is theirs, and what it says. */

describe("Twilio's signature", () => {
  // From the tests of Twilio's own library (twilio-node, spec/validation.spec.js).
  const published = {
    key: '12345',
    url: 'https://mycompany.com/myapp.php?foo=1&bar=2',
    form: new URLSearchParams({
      CallSid: 'CA1234567890ABCDE',
      Caller: '+14158675309',
      Digits: '1234',
      From: '+14158675309',
      To: '+18005551212',
    }),
    signature: 'RSOYDt4T1cUTdK1PDd93/VVr8B8=',
  };

  test('is the published one', () => {
    const { key, url, form, signature } = published;
    expect(twilioSignature(key, url, form)).toBe(signature);
    expect(isSignedByTwilio(signature, key, url, form)).toBe(true);
  });

  test.each<[string, Partial<typeof published>]>([
    ['another key', { key: '12346' }],
    ['another address', { url: 'https://mycompany.com/myapp.php?foo=1&bar=3' }],
    ['another host', { url: 'https://internal:8080/myapp.php?foo=1&bar=2' }],
    ['another parameter', { form: new URLSearchParams({ ...Object.fromEntries(published.form), Digits: '1235' }) }],
    ['one parameter more', { form: new URLSearchParams({ ...Object.fromEntries(published.form), More: '' }) }],
    ['no signature', { signature: '' }],
    ['a longer signature', { signature: `${published.signature}=` }],
  ])('of %s is refused', (_what, change) => {
    const { key, url, form, signature } = { ...published, ...change };
    expect(isSignedByTwilio(signature, key, url, form)).toBe(false);
  });

  test.each([
    ['https://a.example/callbacks/sms', 'https://a.example:443/callbacks/sms'],
    ['https://a.example:8443/callbacks/sms', 'https://a.example/callbacks/sms'],
    ['https://a.example:8443/callbacks/sms', 'https://a.example:8443/callbacks/sms'],
    ['http://localhost:8080/callbacks/sms', 'http://localhost:8080/callbacks/sms'],
  ])('for %s may be of %s: Twilio signs with the port or without', (url, signed) => {
    const form = new URLSearchParams({ MessageSid: 'SM1' });
    expect(isSignedByTwilio(signAsTwilio('key', signed, { MessageSid: 'SM1' }), 'key', url, form)).toBe(true);
  });

  test('takes any parameters in any order', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.string({ unit: 'grapheme' })), (parameters) => {
        const form = new URLSearchParams(Object.entries(parameters).toReversed());
        const url = 'https://a.example/callbacks/sms';
        expect(isSignedByTwilio(signAsTwilio('key', url, parameters), 'key', url, form)).toBe(true);
      }),
    );
  });

  test('of an address that is none is refused', () => {
    expect(isSignedByTwilio('x', 'key', 'https://a.example:99999/', new URLSearchParams())).toBe(false);
  });
});

test("Meta's signature is of the bytes", () => {
  const body = '{"a":"\u00e4"}';
  const signature = signAsMeta('secret', body);
  expect(isSignedByMeta(signature, 'secret', Buffer.from(body))).toBe(true);
  expect(isSignedByMeta(signature, 'other', Buffer.from(body))).toBe(false);
  expect(isSignedByMeta(signature, 'secret', Buffer.from(`${body} `))).toBe(false);
  expect(isSignedByMeta(signature.slice('sha256='.length), 'secret', Buffer.from(body))).toBe(false);
  expect(isSignedByMeta('', 'secret', Buffer.from(body))).toBe(false);
});

describe('a callback of a text message', () => {
  const ref = 'SM0123456789abcdef0123456789abcdef';
  const read = (parameters: Record<string, string>) =>
    readSmsStatus(new URLSearchParams({ MessageSid: ref, To: '+34600123456', ...parameters }));

  test.each(['accepted', 'queued', 'sending', 'sent', 'something new', ''])('that says %s says nothing', (MessageStatus) => {
    expect(read({ MessageStatus })).toBeUndefined();
  });

  test.each<[Record<string, string>, Receipt['says']]>([
    [{ MessageStatus: 'delivered' }, 'delivered'],
    [{ MessageStatus: 'undelivered', ErrorCode: '30003' }, { detail: '30003 Unreachable destination handset' }],
    [
      { MessageStatus: 'undelivered', ErrorCode: '30005' },
      { detail: '30005 Unknown destination handset', addressOff: 'no_account' },
    ],
    [
      { MessageStatus: 'failed', ErrorCode: '30006' },
      { detail: '30006 Landline or unreachable carrier', addressOff: 'no_account' },
    ],
    [
      { MessageStatus: 'failed', ErrorCode: '21610' },
      { detail: '21610 Attempt to send to unsubscribed recipient', addressOff: 'unsubscribed' },
    ],
    [
      { MessageStatus: 'failed', ErrorCode: '21614' },
      { detail: '21614', addressOff: 'no_account' },
    ],
    [{ MessageStatus: 'undelivered', ErrorCode: '30007' }, { detail: '30007 Message filtered' }],
    [
      { MessageStatus: 'failed', ErrorCode: '99999', ErrorMessage: 'not to +34600123456 (34600123456)\n' },
      { detail: '99999 not to ••• (•••)' },
    ],
    [{ MessageStatus: 'failed', ErrorMessage: 'x'.repeat(1000) }, { detail: 'x'.repeat(300) }],
    [{ MessageStatus: 'failed' }, { detail: '' }],
  ])('%j', (parameters, says) => {
    expect(read(parameters)).toEqual({ ref, says });
  });

  test.each(['', 'SM 1', 'SM\0', 'x'.repeat(65)])('with the id %j is none', (MessageSid) => {
    expect(read({ MessageSid, MessageStatus: 'delivered' })).toBeUndefined();
  });
});

describe('a callback of WhatsApp', () => {
  const status = (rest: object) => ({ id: 'wamid.1', status: 'delivered', timestamp: '1750857384', recipient_id: '34600123456', ...rest });
  const read = (...statuses: object[]) =>
    readWhatsappStatuses(JSON.stringify({ entry: [{ changes: [{ field: 'messages', value: { statuses } }] }] }));
  const at = 1_750_857_384_000;

  test('says when each message was delivered and read', () => {
    expect(read(status({}), status({ id: 'wamid.2', status: 'read' }), status({ status: 'sent' }))).toEqual([
      { ref: 'wamid.1', at, says: 'delivered' },
      { ref: 'wamid.2', at, says: 'read' },
    ]);
  });

  test.each<[object[] | undefined, Receipt['says']]>([
    [
      [{ code: 131_026, title: 'Message undeliverable', message: 'Message undeliverable', error_data: { details: 'Not to 34600123456.' } }],
      { detail: '131026 Message undeliverable: Not to •••.', addressOff: 'no_account' },
    ],
    [
      [{ code: 131_050, title: 'User has stopped marketing messages' }],
      { detail: '131050 User has stopped marketing messages', addressOff: 'unsubscribed' },
    ],
    [[{ code: 131_049, message: 'not delivered' }], { detail: '131049 not delivered' }],
    [[{ code: 131_000, title: 'x'.repeat(1000) }], { detail: `131000 ${'x'.repeat(293)}` }],
    [[], { detail: '' }],
    [undefined, { detail: '' }],
  ])('says why not: %j', (errors, says) => {
    expect(read(status({ status: 'failed', errors }))).toEqual([{ ref: 'wamid.1', at, says }]);
  });

  test('without a time that makes sense has none', () => {
    for (const timestamp of [undefined, '', 'soon', '-5', '1e30', {}])
      expect(read(status({ timestamp }))).toEqual([{ ref: 'wamid.1', says: 'delivered' }]);
  });

  test('leaves out what is none of ours', () => {
    expect(read(status({ id: 'wamid\0' }), status({ id: 5 }), status({ status: 7 }), { id: 'x' })).toEqual([]);
    for (const body of ['', 'null', '[]', '{"entry":5}', '{"entry":[{"changes":[{"value":{"messages":[{}]}}]}]}'])
      expect(readWhatsappStatuses(body)).toEqual([]);
    fc.assert(fc.property(fc.json(), (body) => Array.isArray(readWhatsappStatuses(body))));
  });
});

test.each<[string, boolean, string | null]>([
  ['https://signalbox.example.net', false, 'https://signalbox.example.net/callbacks/sms'],
  ['https://signalbox.example.net:8443/base', false, 'https://signalbox.example.net:8443/base/callbacks/sms'],
  ['http://signalbox.example.net', true, null],
  ['https://localhost', false, null],
  ['https://10.1.2.3', false, null],
  ['http://127.0.0.1:8080', false, null],
  ['http://127.0.0.1:8080', true, 'http://127.0.0.1:8080/callbacks/sms'],
])('callbacks for %s (loopback: %s) come to %s', (publicUrl, allowLoopback, expected) => {
  expect(smsCallbackUrl(publicUrl, { allowLoopback })).toBe(expected);
});

describe('without', () => {
  const folder = mkdtempSync(path.join(inject('runFolder'), 'callbacks-'));
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };
  const made = (accounts: { sms?: string; whatsapp?: [string, string] }) =>
    new ProviderCallbacks({
      publicUrl: 'https://signalbox.example.net',
      messages: { receive: () => Promise.reject(new Error('not to be called')) },
      accounts: {
        sms: accounts.sms === undefined ? null : { apiUrl: '', accountId: '', from: '', tokenFile: accounts.sms },
        whatsapp: {
          apiUrl: '',
          phoneNumberId: '',
          template: '',
          tokenFile: '',
          callbacks: accounts.whatsapp ? { appSecretFile: accounts.whatsapp[0], verifyTokenFile: accounts.whatsapp[1] } : null,
        },
      },
    });
  const sms = { target: '/callbacks/sms', signature: '', body: '' };
  const whatsapp = { signature: '', body: Buffer.alloc(0) };
  const verify = { mode: 'subscribe', token: 'let me in', challenge: '1158201444' };

  test('an account nothing is there', async () => {
    const none = made({});
    for (const ask of [() => none.onSms(sms), () => none.onWhatsapp(whatsapp), () => none.verifyWhatsapp(verify)])
      await expect(ask()).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a secret that can be read nothing is checked, and the provider may try again', async () => {
    const missing = path.join(folder, 'missing');
    const blind = made({ sms: missing, whatsapp: [missing, missing] });
    for (const ask of [() => blind.onSms(sms), () => blind.onWhatsapp(whatsapp), () => blind.verifyWhatsapp(verify)])
      await expect(ask()).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('the right token Meta hears nothing', async () => {
    const callbacks = made({ whatsapp: [file('secret', 'app secret'), file('token', 'let me in\n')] });
    expect(await callbacks.verifyWhatsapp(verify)).toBe('1158201444');
    for (const wrong of [{ token: 'let me' }, { token: '' }, { mode: 'unsubscribe' }, { challenge: '' }])
      await expect(callbacks.verifyWhatsapp({ ...verify, ...wrong })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(callbacks.onWhatsapp({ ...whatsapp, signature: signAsMeta('other', '') })).rejects.toMatchObject({ code: 'forbidden' });
  });
});
