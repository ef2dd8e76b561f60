import { expect, test } from 'vitest';
import { IdempotencyStore } from '../../server/idempotency/store.ts';
import type { WriteQueue } from '../../server/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { seedTeam } from '../harness/seed.ts';

const DAY = 24 * 3600 * 1000;

describeEachDatabase('Idempotency-Keys', (open) => {
  let now = 1_000_000;
  const setUp = async () => {
    now = 1_000_000;
    const storage = await open();
    const { teamId } = await seedTeam(storage);
    const scope = { teamId, scope: 'POST /things', key: 'k' };
    return { storage, scope, store: new IdempotencyStore(storage, () => now) };
  };

  test('the first of many claims wins, the others are told that it is under way', async () => {
    const { store, scope } = await setUp();
    const claims = await Promise.all(Array.from({ length: 5 }, () => store.claim(scope, 'body', true)));
    expect(claims.map(({ state }) => state).sort()).toEqual(['claimed', 'running', 'running', 'running', 'running']);
  });

  test('a finished answer is given again, to the same body only, in the same team and on the same path only', async () => {
    const { storage, store, scope } = await setUp();
    await store.claim(scope, 'body', true);
    await store.finish(scope, 200, '{}');
    expect(await store.claim(scope, 'body', true)).toEqual({ state: 'finished', status: 200, response: '{}' });
    expect(await store.claim(scope, 'other', true)).toEqual({ state: 'other_payload' });
    expect(await store.claim({ ...scope, scope: 'POST /others' }, 'body', true)).toEqual({ state: 'claimed' });
    const { teamId } = await seedTeam(storage);
    expect(await store.claim({ ...scope, teamId }, 'other', true)).toEqual({ state: 'claimed' });
  });

  test('after a crash of the process, of many repeats exactly one goes on', async () => {
    const { storage, store, scope } = await setUp();
    await store.claim(scope, 'body', true);
    const next = new IdempotencyStore(storage, () => now);
    await next.markInterrupted();
    const claims = await Promise.all(Array.from({ length: 5 }, () => next.claim(scope, 'body', true)));
    expect(claims.map(({ state }) => state).sort()).toEqual(['claimed', 'running', 'running', 'running', 'running']);
  });

  test('after a crash, what cannot recognise its earlier work stays interrupted', async () => {
    const { storage, store, scope } = await setUp();
    await store.claim(scope, 'body', false);
    const next = new IdempotencyStore(storage, () => now);
    await next.markInterrupted();
    expect(await next.claim(scope, 'body', false)).toEqual({ state: 'interrupted' });
    expect(await next.claim(scope, 'body', false)).toEqual({ state: 'interrupted' });
  });

  test('an end that the database could not take leaves the key interrupted, not under way for ever', async () => {
    const { storage, scope } = await setUp();
    const failing = { isFull: false };
    const writes: WriteQueue = {
      write: (work) => (failing.isFull ? Promise.reject(new Error('disk full')) : storage.writes.write(work)),
    };
    const store = new IdempotencyStore({ ...storage, db: storage.db, writes }, () => now);
    await store.claim(scope, 'body', true);
    failing.isFull = true;
    await expect(store.finish(scope, 200, '{}')).rejects.toThrow('disk full');
    failing.isFull = false;
    expect(await store.claim(scope, 'body', false)).toEqual({ state: 'interrupted' });
    expect(await store.claim(scope, 'body', true)).toEqual({ state: 'claimed' });
    expect(await store.claim(scope, 'body', true)).toEqual({ state: 'running' });
  });

  test('answers are forgotten after a day', async () => {
    const { store, scope } = await setUp();
    await store.claim(scope, 'body', true);
    await store.finish(scope, 200, '{}');
    now += DAY + 1;
    await store.claim({ ...scope, key: 'young' }, 'body', true);
    await store.sweep();
    expect(await store.claim(scope, 'other', true)).toEqual({ state: 'claimed' });
    expect(await store.claim({ ...scope, key: 'young' }, 'body', true)).toEqual({ state: 'running' });
  });
});
