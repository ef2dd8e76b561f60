import { expect, it } from 'vitest';
import { refusedFields } from '../../../server/platform/http/error-handler.ts';

it.each([
  ['name, windows[0].from', { name: ['is required'], 'windows[0].from': ['x'] }],
  // A record whose names the caller has chosen: PostgreSQL stores no NUL, and a log line must stay one.
  ['query.a?b?', { 'query.a\u0000b\n': ['must be text'] }],
  ['query.??', { 'query.\uD800\u202E': ['must be text'] }],
])('the audit log says of refused input: %s', (said, errors) => {
  expect(refusedFields(errors)).toBe(`refused: ${said}`);
});

it('the audit log says only so much of refused input', () => {
  expect(refusedFields({ ['x'.repeat(10_000)]: ['is unknown'] }).length).toBeLessThan(250);
});
