import { expect, test } from 'vitest';
import { deliveryOf } from '../../../client/cli/notify/columns.ts';

/** What `notify log` says of a message. */

const sent = {
  state: 'sent',
  reason: null,
  created_at: '2031-05-01T08:30:04.000Z',
  delivered_at: null,
  read_at: null,
  attempts: [{ outcome: 'sent' }],
};
const undelivered = { state: 'failed', attempts: [{ outcome: 'sent' }, { outcome: 'undelivered' }] };

test.each<[string, Partial<Parameters<typeof deliveryOf>[0]>]>([
  ['sent', {}],
  ['sent: fallback', { reason: 'fallback' }],
  ['delivered 08:31', { delivered_at: '2031-05-01T08:31:59.000Z' }],
  ['delivered 2031-05-02 00:10', { delivered_at: '2031-05-02T00:10:00.000Z' }],
  ['read 08:40', { delivered_at: '2031-05-01T08:31:00.000Z', read_at: '2031-05-01T08:40:00.000Z' }],
  ['not delivered: undelivered', { ...undelivered, reason: 'undelivered' }],
  ['not delivered: no_account', { ...undelivered, reason: 'no_account' }],
  ['failed: refused', { state: 'failed', reason: 'refused', attempts: [{ outcome: 'never' }] }],
  ['withheld: muted', { state: 'withheld', reason: 'muted', attempts: [] }],
])('%s', (words, message) => {
  expect(deliveryOf({ ...sent, ...message })).toBe(words);
});
