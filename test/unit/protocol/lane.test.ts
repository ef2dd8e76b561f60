import { expect, test } from 'vitest';
import { Lane } from '../../../runtime/lane.ts';

test('work runs in order, one piece at a time, and a failure does not stop the next', async () => {
  const errors: unknown[] = [];
  const lane = new Lane((error) => errors.push(error));
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  lane.push(async () => {
    log.push('first begins');
    await gate.promise;
    log.push('first ends');
  });
  lane.push(() => Promise.reject(new Error('second fails')));
  lane.push(async () => {
    log.push('third');
  });
  expect(lane.length).toBe(3);
  gate.resolve();
  await lane.idle;
  expect(log).toEqual(['first begins', 'first ends', 'third']);
  expect(errors).toEqual([new Error('second fails')]);
  expect(lane.length).toBe(0);
});
