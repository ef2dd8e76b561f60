import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockForServing } from '../../server/platform/storage/serve-lock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-lock-'));
});
afterEach(async () => rm(folder, { recursive: true, force: true }));

test('one control plane at a time serves a SQLite file', () => {
  const url = `sqlite:${path.join(folder, 'a.db')}`;
  const unlock = lockForServing(url);
  expect(() => lockForServing(url)).toThrow('another control plane serves');
  const other = lockForServing(`sqlite:${path.join(folder, 'b.db')}`);
  unlock();
  lockForServing(url)();
  other();
});

test('memory and PostgreSQL are not locked', () => {
  for (const url of ['sqlite::memory:', 'postgres://host/database']) {
    const unlock = lockForServing(url);
    lockForServing(url)();
    unlock();
  }
});
