import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { AppError, LostCommit } from '../../server/platform/core/errors.ts';
import type { HeldKey, IdempotencyScope } from '../../server/platform/core/idempotency.ts';
import { IdempotencyStore } from '../../server/platform/idempotency/store.ts';
import type { WriteQueue } from '../../server/platform/storage/db.ts';
import { Secrets } from '../../server/platform/storage/secrets.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { seedTeam } from '../harness/seed.ts';

const secrets = new Secrets([{ kid: 'one', bytes: Buffer.alloc(32, 1) }]);
const DAY = 24 * 3600 * 1000;

describeEachDatabase('Idempotency-Keys', (open) => {
  let now = 1_000_000;
  const setUp = async () => {
    now = 1_000_000;
    const storage = await open();
    const { teamId } = await seedTeam(storage);
    const scope = { teamId, scope: 'POST /things', key: 'k', caller: 'somebody' };
    return { storage, scope, store: new IdempotencyStore(storage, secrets, () => now) };
  };

  const claim = async (store: IdempotencyStore, scope: IdempotencyScope): Promise<HeldKey> => {
    const result = await store.claim(scope, 'body', true);
    if (result.state !== 'claimed') throw new Error(`not claimed but ${result.state}`);
    return result.held;
  };

  test('the first of many claims wins; the others learn that it is in progress', async () => {
    const { store, scope } = await setUp();
    const claims = await Promise.all(Array.from({ length: 5 }, () => store.claim(scope, 'body', true)));
    expect(claims.map(({ state }) => state).sort()).toEqual(['claimed', 'running', 'running', 'running', 'running']);
  });

  test('what is stored of a body with a password cannot be guessed at without the secret key', async () => {
    const { storage, store, scope } = await setUp();
    const body = JSON.stringify({ current_password: 'summer', new_password: 'winter' });
    await store.claim(scope, body, false);
    const { fingerprint } = await storage.db.selectFrom('idempotency_keys').select('fingerprint').executeTakeFirstOrThrow();
    const guesses = ['sha256', 'sha512', 'sha1', 'md5'].map((algorithm) => createHash(algorithm).update(body).digest('hex'));
    expect(guesses).not.toContain(fingerprint);
    const elsewhere = new Secrets([{ kid: 'one', bytes: Buffer.alloc(32, 2) }]);
    expect(elsewhere.fingerprints('idempotency', body)).not.toContain(fingerprint);
    expect(secrets.fingerprints('another purpose', body)).not.toContain(fingerprint);
  });

  test('a repeat is recognised after the secret key was changed', async () => {
    const { storage, store, scope } = await setUp();
    await store.finish(await claim(store, scope), 200, '{}');
    const changed = new Secrets([
      { kid: 'two', bytes: Buffer.alloc(32, 2) },
      { kid: 'one', bytes: Buffer.alloc(32, 1) },
    ]);
    const next = new IdempotencyStore(storage, changed, () => now);
    expect(await next.claim(scope, 'body', true)).toMatchObject({ state: 'finished' });
    expect(await next.claim(scope, 'other', true)).toEqual({ state: 'other_payload' });
  });

  test('a finished answer is given again, to the same body only, in the same team and on the same path only', async () => {
    const { storage, store, scope } = await setUp();
    await store.finish(await claim(store, scope), 200, '{}');
    expect(await store.claim(scope, 'body', true)).toEqual({ state: 'finished', status: 200, response: '{}' });
    expect(await store.claim(scope, 'other', true)).toEqual({ state: 'other_payload' });
    expect(await store.claim({ ...scope, scope: 'POST /others' }, 'body', true)).toMatchObject({ state: 'claimed' });
    const { teamId } = await seedTeam(storage);
    expect(await store.claim({ ...scope, teamId }, 'other', true)).toMatchObject({ state: 'claimed' });
  });

  test('after a crash of the process, exactly one of many repeats continues', async () => {
    const { storage, store, scope } = await setUp();
    await store.claim(scope, 'body', true);
    const next = new IdempotencyStore(storage, secrets, () => now);
    await next.markInterrupted();
    const claims = await Promise.all(Array.from({ length: 5 }, () => next.claim(scope, 'body', true)));
    expect(claims.map(({ state }) => state).sort()).toEqual(['claimed', 'running', 'running', 'running', 'running']);
  });

  test('after a crash, what cannot recognise its earlier work stays interrupted', async () => {
    const { storage, store, scope } = await setUp();
    await store.claim(scope, 'body', false);
    const next = new IdempotencyStore(storage, secrets, () => now);
    await next.markInterrupted();
    expect(await next.claim(scope, 'body', false)).toEqual({ state: 'interrupted' });
    expect(await next.claim(scope, 'body', false)).toEqual({ state: 'interrupted' });
  });

  /** A store whose writes fail on demand: before anything is written, or after, so that only the answer is lost. */
  const onBrokenDatabase = async () => {
    const { storage, scope } = await setUp();
    const broken: { how: 'no' | 'refuses' | 'loses the answer' } = { how: 'no' };
    const writes: WriteQueue = {
      write: async (work) => {
        if (broken.how === 'refuses') throw new AppError('unavailable', 'disk full');
        const value = await storage.writes.write(work);
        if (broken.how === 'loses the answer') throw new LostCommit(new Error('connection lost'));
        return value;
      },
    };
    return { scope, broken, store: new IdempotencyStore({ ...storage, db: storage.db, writes }, secrets, () => now) };
  };

  test.each(['refuses', 'loses the answer'] as const)('an answer is given again though the database %s when it is kept', async (how) => {
    const { store, scope, broken } = await onBrokenDatabase();
    const held = await claim(store, scope);
    broken.how = how;
    await expect(store.finish(held, 200, '{}')).rejects.toThrow(AppError);
    broken.how = 'no';
    for (let repeat = 0; repeat < 2; repeat += 1) {
      expect(await store.claim(scope, 'body', false)).toEqual({ state: 'finished', status: 200, response: '{}' });
    }
  });

  test.each(['refuses', 'loses the answer'] as const)('a key is free again though the database %s when it is released', async (how) => {
    const { store, scope, broken } = await onBrokenDatabase();
    const held = await claim(store, scope);
    broken.how = how;
    await expect(store.release(held)).rejects.toThrow(AppError);
    broken.how = 'no';
    const claims = await Promise.all(Array.from({ length: 5 }, () => store.claim(scope, 'body', false)));
    expect(claims.map(({ state }) => state).sort()).toEqual(['claimed', 'running', 'running', 'running', 'running']);
  });

  test('a claim whose answer is lost says that nothing was done and leaves the key free', async () => {
    const { store, scope, broken } = await onBrokenDatabase();
    broken.how = 'loses the answer';
    await expect(store.claim(scope, 'body', false)).rejects.toMatchObject({ code: 'unavailable' });
    broken.how = 'no';
    expect(await store.claim(scope, 'body', false)).toMatchObject({ state: 'claimed' });
    expect(await store.claim(scope, 'body', false)).toEqual({ state: 'running' });
  });

  test('a repeat whose own claim is lost does not free the key of the request that is under way', async () => {
    const { store, scope, broken } = await onBrokenDatabase();
    const held = await claim(store, scope);
    broken.how = 'loses the answer';
    await expect(store.claim(scope, 'body', true)).rejects.toMatchObject({ code: 'unavailable' });
    broken.how = 'no';
    expect(await store.claim(scope, 'body', true)).toEqual({ state: 'running' });
    await store.finish(held, 200, '{}');
    expect(await store.claim(scope, 'body', true)).toMatchObject({ state: 'finished' });
  });

  test('a request that lost its key to a repeat does not write over the answer of that', async () => {
    const { store, scope, broken } = await onBrokenDatabase();
    const first = await claim(store, scope);
    broken.how = 'refuses';
    await expect(store.release(first)).rejects.toThrow(AppError);
    broken.how = 'no';
    const second = await claim(store, scope);
    await store.finish(second, 200, '"second"');
    await store.finish(first, 200, '"first"');
    expect(await store.claim(scope, 'body', true)).toMatchObject({ response: '"second"' });
  });

  /** Control planes that serve one database. */
  const onNodes = async () => {
    const { storage, scope } = await setUp();
    const row = { version: '1', process: null, public_url: 'https://node.example', beat: 0, started_at: 0 };
    for (const id of ['one', 'two', 'three', 'four'])
      await storage.db
        .insertInto('nodes')
        .values({ ...row, id, name: id })
        .execute();
    const storeOf = (nodeId: string, writes = storage.writes) =>
      new IdempotencyStore({ ...storage, db: storage.db, writes }, secrets, () => now, { nodeId });
    const end = (nodeId: string) => storage.db.deleteFrom('nodes').where('id', '=', nodeId).execute();
    return { storage, scope, storeOf, end };
  };

  test('a control plane that starts leaves alone what is under way on another one', async () => {
    const { scope, storeOf } = await onNodes();
    const one = storeOf('one');
    const held = await claim(one, scope);
    const two = storeOf('two');
    await two.markInterrupted();
    expect(await two.claim(scope, 'body', true)).toEqual({ state: 'running' });
    expect(await two.claim(scope, 'other', true)).toEqual({ state: 'other_payload' });
    await one.finish(held, 200, '{}');
    expect(await two.claim(scope, 'body', true)).toEqual({ state: 'finished', status: 200, response: '{}' });
  });

  test('what a control plane that is gone had under way is interrupted, and exactly one of many repeats continues', async () => {
    const { scope, storeOf, end } = await onNodes();
    const one = storeOf('one');
    const held = await claim(one, scope);
    await end('one');
    const others = [storeOf('two'), storeOf('three'), storeOf('four')];
    expect(await others[0]!.claim(scope, 'body', false)).toEqual({ state: 'interrupted' });
    const claims = await Promise.all(others.map((store) => store.claim(scope, 'body', true)));
    expect(claims.filter(({ state }) => state === 'claimed')).toHaveLength(1);
    // It was only frozen: its answer must not stand in for that of the repeat.
    await one.finish(held, 200, '"of the dead"');
    const taken = claims.find(({ state }) => state === 'claimed')!;
    await others[0]!.finish((taken as { held: HeldKey }).held, 200, '"of the repeat"');
    expect(await others[1]!.claim(scope, 'body', true)).toMatchObject({ response: '"of the repeat"' });
  });

  test('what one that served alone had under way is interrupted for those that follow it', async () => {
    const { storage, scope, storeOf } = await onNodes();
    await new IdempotencyStore(storage, secrets, () => now).claim(scope, 'body', true);
    const next = storeOf('one');
    await next.markInterrupted();
    expect(await next.claim(scope, 'body', false)).toEqual({ state: 'interrupted' });
  });

  test('an answer that the database did not take at first is given at another control plane too', async () => {
    const { storage, scope, storeOf } = await onNodes();
    let refuses = false;
    const writes: WriteQueue = {
      write: (work) => (refuses ? Promise.reject(new AppError('unavailable', 'disk full')) : storage.writes.write(work)),
    };
    const one = storeOf('one', writes);
    const two = storeOf('two');
    const held = await claim(one, scope);
    refuses = true;
    await expect(one.finish(held, 200, '{}')).rejects.toThrow(AppError);
    expect(await two.claim(scope, 'body', false)).toEqual({ state: 'running' });
    await expect(one.storeUnstored()).rejects.toThrow(AppError);
    refuses = false;
    await one.storeUnstored();
    expect(await two.claim(scope, 'body', false)).toEqual({ state: 'finished', status: 200, response: '{}' });
  });

  test('answers are forgotten after a day', async () => {
    const { store, scope } = await setUp();
    await store.finish(await claim(store, scope), 200, '{}');
    now += DAY + 1;
    await store.claim({ ...scope, key: 'young' }, 'body', true);
    await store.sweep();
    expect(await store.claim(scope, 'other', true)).toMatchObject({ state: 'claimed' });
    expect(await store.claim({ ...scope, key: 'young' }, 'body', true)).toEqual({ state: 'running' });
  });
});
