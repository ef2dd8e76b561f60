import { capabilities, type Engine } from '../capabilities.ts';
import type { Migration } from './types.ts';

/** Whose administrator was shown the password that a person still has: another team must not let them in with it. */
function statements(engine: Engine): string[] {
  const { text } = capabilities[engine];
  return [`alter table users add column password_given_by ${text} references teams (id)`];
}

export const givenPasswords: Migration = { number: 11, name: 'given passwords', statements };
