import { describe, expect, it } from 'vitest';
import { attemptOf } from '../../../console/src/data/attempt.ts';

const input = (script: string) => ({ path: { router_id: 'r1' }, body: { script, make_backup: true } });

describe('a write whose answer was lost', () => {
  it('is sent again with its key when the same is sent again', () => {
    const first = attemptOf(undefined, input('/export'));
    expect(attemptOf(first, input('/export')).idempotencyKey).toBe(first.idempotencyKey);
  });

  it('is another one with another input, or after an answer', () => {
    const first = attemptOf(undefined, input('/export'));
    expect(attemptOf(first, input('/import')).idempotencyKey).not.toBe(first.idempotencyKey);
    expect(attemptOf(undefined, input('/export')).idempotencyKey).not.toBe(first.idempotencyKey);
  });
});
