import { expect, test } from 'vitest';
import { ConnectionLock } from '../../server/platform/storage/connection-lock.ts';

test('grants the lock in the order of requests', async () => {
  const lock = new ConnectionLock(1000);
  const order: number[] = [];
  await lock.acquire();
  const waiting = [1, 2, 3].map(async (turn) => {
    await lock.acquire();
    order.push(turn);
    lock.release();
  });
  expect(order).toEqual([]);
  lock.release();
  await Promise.all(waiting);
  expect(order).toEqual([1, 2, 3]);
});

test('a waiter that times out gets an error and does not take the lock later', async () => {
  const lock = new ConnectionLock(5);
  await lock.acquire();
  await expect(lock.acquire()).rejects.toMatchObject({ code: 'unavailable' });
  lock.release();
  await lock.acquire();
});
