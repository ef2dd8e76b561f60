import { expect, test } from 'vitest';
import { wordsOfEvent } from '../../../console/src/data/last-events.ts';

test.each([
  ['forward.created', 'forward made'],
  ['forward.authorized', 'forward opened'],
  ['forward.closed', 'forward closed'],
  ['config.changed', 'configuration changed'],
  ['job.rolled_back', 'job rolled back'],
])('the event %s is called %s', (type, said) => {
  expect(wordsOfEvent(type)).toBe(said);
});
