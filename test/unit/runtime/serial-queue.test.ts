import { expect, test } from 'vitest';
import { SerialQueue } from '../../../runtime/serial-queue.ts';

test('work runs in order, one piece at a time, and a failure does not stop the next', async () => {
  const errors: unknown[] = [];
  const queue = new SerialQueue((error) => errors.push(error));
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  queue.push(async () => {
    log.push('first begins');
    await gate.promise;
    log.push('first ends');
  });
  queue.push(() => Promise.reject(new Error('second fails')));
  queue.push(async () => {
    log.push('third');
  });
  expect(queue.length).toBe(3);
  gate.resolve();
  await queue.idle;
  expect(log).toEqual(['first begins', 'first ends', 'third']);
  expect(errors).toEqual([new Error('second fails')]);
  expect(queue.length).toBe(0);
});
