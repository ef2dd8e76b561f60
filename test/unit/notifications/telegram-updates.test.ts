import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextRead, nextTry, positionOf, waitSeconds } from '../../../server/outbound/notifications/telegram/reading/timing.ts';
import { readUpdates } from '../../../server/outbound/notifications/telegram/updates.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const NOW = 1_900_000_000_000;
const TOKEN = 'A'.repeat(64);

const message = (text: unknown, more: object = {}): object => ({
  message_id: 1,
  date: NOW / 1000,
  chat: { id: 4711, type: 'private', first_name: 'Ada' },
  from: { id: 4711, is_bot: false, first_name: 'Ada', language_code: 'de-AT' },
  text,
  ...more,
});
const startOf = (value: unknown) => readUpdates([{ update_id: 7, message: value }])![0]!.start;

describe('what somebody writes to the bot', () => {
  test.each([
    ['with a token', `/start ${TOKEN}`, TOKEN],
    ['with a token behind a line break', `/start\n${TOKEN}\n`, TOKEN],
    ['with the name of the bot', `/start@depot_bot ${TOKEN}`, TOKEN],
    ['without a token', '/start', null],
    ['with spaces only', '/start  ', null],
    ['with a token that is too long', `/start ${TOKEN}x`, ''],
    ['with two words', '/start a b', ''],
    ['with letters that no link has', '/start ä', ''],
  ])('is a start %s', (_what, text, token) => {
    expect(startOf(message(text))).toEqual({ chatId: '4711', token, locale: 'de', at: NOW });
  });

  test.each([
    ['another text', message('hello')],
    ['a start inside of a text', message(`see /start ${TOKEN}`)],
    ['another command', message(`/starter ${TOKEN}`)],
    ['no text', message(undefined)],
    ['a group', message('/start', { chat: { id: -100_200, type: 'group' } })],
    ['a chat whose number is not one of a person', message('/start', { chat: { id: -5, type: 'private' } })],
    ['a channel, which has no sender', message('/start', { from: undefined })],
    ['another bot', message('/start', { from: { id: 1, is_bot: true } })],
    ['no message', undefined],
    ['something else', 'x'],
  ])('is ignored when it is %s', (_what, value) => {
    expect(startOf(value)).toBeUndefined();
  });

  test.each([
    ['es', 'es'],
    ['EN-gb', 'en'],
    ['fr', undefined],
    [undefined, undefined],
  ])('is in the language %s', (language_code, locale) => {
    expect(startOf(message('/start', { from: { id: 1, is_bot: false, language_code } }))?.locale).toBe(locale);
  });

  test.each([[undefined], [null], [{}], [[{}]], [[{ update_id: 'x' }]], [[{ update_id: 1.5 }]]])('%j is no list of updates', (result) => {
    expect(readUpdates(result)).toBeUndefined();
  });

  test('never ends the reading, whatever it is', () => {
    fc.assert(
      fc.property(fc.nat(), fc.jsonValue(), (id, value) => {
        expect(readUpdates([{ update_id: id, message: value }])).toEqual([{ id, start: undefined }]);
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(readUpdates([{ update_id: 7, message: message(text) }])).toMatchObject([{ id: 7 }]);
      }),
    );
  });
});

describe('when it is read', () => {
  test.each([
    [10 * MINUTE, 0, 20],
    [5 * SECOND, 0, 5],
    [1, 0, 1],
    [-SECOND, 0, 1],
    [10 * MINUTE, 1, 3],
    [2 * SECOND, 1, 2],
  ])('a request waits not longer than links do, and shortly after a failure: %i ms, %i failures', (left, failures, seconds) => {
    expect(waitSeconds(left, failures)).toBe(seconds);
  });

  test.each([
    ['something came', { startedAt: NOW, updates: 1, now: NOW + 10 }, NOW + 10],
    ['it has waited', { startedAt: NOW, updates: 0, now: NOW + 20 * SECOND }, NOW + 20 * SECOND],
    ['it did not wait', { startedAt: NOW, updates: 0, now: NOW + 10 }, NOW + SECOND],
  ])('the next request after one with which %s', (_what, given, at) => {
    expect(nextRead(given)).toBe(at);
  });

  test.each([
    [1, undefined, 2 * SECOND],
    [2, undefined, 4 * SECOND],
    [5, undefined, 32 * SECOND],
    [6, undefined, MINUTE],
    [1_000_000, undefined, MINUTE],
    [1, 35 * SECOND, 35 * SECOND],
    [6, 35 * SECOND, MINUTE],
  ])('the next request after %i failures', (failures, retryAfterMs, wait) => {
    expect(nextTry({ failures, retryAfterMs, now: NOW })).toBe(NOW + wait);
  });

  test.each([
    ['of the same bot', { bot_id: '1', next_update: 50, moved_at: NOW - DAY }, 50],
    ['of another bot', { bot_id: '2', next_update: 50, moved_at: NOW }, null],
    ['of a time after which Telegram counts anew', { bot_id: '1', next_update: 50, moved_at: NOW - 2 * DAY }, null],
    ['that there never was', { bot_id: null, next_update: null, moved_at: null }, null],
  ])('a position %s', (_what, position, next) => {
    expect(positionOf(position, '1', NOW)).toBe(next);
  });
});
