import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { newWebhookSecret, signedHeaders } from '../../../server/platform/outgoing/signature.ts';

const message = {
  id: '0194c1f0-0000-7000-8000-000000000000',
  at: Date.now(),
  body: '{"type":"job.completed","data":{"description":"ключ ✓"}}',
};

test('the published library verifies what we sign', () => {
  const secret = newWebhookSecret();
  expect(new Webhook(secret).verify(message.body, signedHeaders(message, [secret]))).toEqual(JSON.parse(message.body));
});

test('during a rotation both secrets verify', () => {
  const [newer, older, other] = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()];
  const headers = signedHeaders(message, [newer, older]);
  for (const secret of [newer, older]) new Webhook(secret).verify(message.body, headers);
  expect(() => new Webhook(other).verify(message.body, headers)).toThrow('No matching signature');
});

test('another body, id or time is not verified', () => {
  const secret = newWebhookSecret();
  const headers = signedHeaders(message, [secret]);
  const webhook = new Webhook(secret);
  expect(() => webhook.verify(`${message.body} `, headers)).toThrow();
  expect(() => webhook.verify(message.body, { ...headers, 'webhook-id': 'x' })).toThrow();
  expect(() => webhook.verify(message.body, { ...headers, 'webhook-timestamp': String(Math.floor(message.at / 1000) + 1) })).toThrow();
});

test('a secret is whsec_ and 256 bits', () => {
  const secret = newWebhookSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(newWebhookSecret()).not.toBe(secret);
});
