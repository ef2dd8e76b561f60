import process from 'node:process';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';

test('tests run on Node 24 with the packaged SQLite', () => {
  expect(process.versions.node).toMatch(/^24\./);
  expect(new Database(':memory:').prepare('select 1 as one').get()).toEqual({ one: 1 });
});
