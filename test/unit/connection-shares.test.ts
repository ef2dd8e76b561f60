import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ConnectionShares } from '../../server/platform/storage/connection-shares.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('each use leaves connections to the other', async () => {
  const shares = new ConnectionShares(10);
  for (let count = 0; count < 7; count += 1) await shares.acquire('own');
  let isGranted = false;
  const eighth = shares.acquire('own').then(() => (isGranted = true));
  // Agents hold all that they may, and requests still get theirs.
  for (let count = 0; count < 7; count += 1) await shares.acquire('request');
  expect(isGranted).toBe(false);
  shares.release('own');
  await eighth;
  expect(isGranted).toBe(true);
});

test('those who wait get one in their order, and a pool of one connection serves both', async () => {
  const shares = new ConnectionShares(1);
  expect(shares.most).toBe(1);
  await shares.acquire('own');
  const order: number[] = [];
  const waiting = [1, 2, 3].map((number) => shares.acquire('own').then(() => order.push(number)));
  await shares.acquire('request');
  for (const one of waiting) {
    shares.release('own');
    await one;
  }
  expect(order).toEqual([1, 2, 3]);
});

test('a request gives up after five seconds, and agents wait longer', async () => {
  const shares = new ConnectionShares(1);
  await shares.acquire('request');
  await shares.acquire('own');
  const [request, own] = [shares.acquire('request'), shares.acquire('own')];
  const refused = expect(request).rejects.toMatchObject({ code: 'unavailable' });
  await vi.advanceTimersByTimeAsync(5000);
  await refused;
  shares.release('own');
  await own;
  // Nobody waits any longer, so that what is released is free.
  shares.release('request');
  await shares.acquire('request');
});
