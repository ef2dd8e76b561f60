import { expect, test } from 'vitest';
import { ConnectionLock } from '../../server/platform/storage/connection-lock.ts';

test('turns are given in the order they were asked for', async () => {
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

test('who waits too long is told so, and does not take a turn later', async () => {
  const lock = new ConnectionLock(5);
  await lock.acquire();
  await expect(lock.acquire()).rejects.toMatchObject({ code: 'unavailable' });
  lock.release();
  await lock.acquire();
});
