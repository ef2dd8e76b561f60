import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { noteServerTime, serverNow } from '../../../console/src/data/server-clock.ts';

const NOON = Date.parse('2031-05-01T12:00:00.000Z');
const HOUR_MS = 3_600_000;

/** An answer that was asked for and came at these times of the browser, given at a time of the control plane. */
function hear({ given, sentAt, receivedAt = sentAt + 20 }: { given: number; sentAt: number; receivedAt?: number }): void {
  noteServerTime(new Date(given).toUTCString(), { sentAt, receivedAt });
}

function aheadAt(at: number): number {
  vi.setSystemTime(at);
  return serverNow() - at;
}

describe('the clock of the control plane', () => {
  beforeAll(() => void vi.useFakeTimers());
  afterAll(() => void vi.useRealTimers());
  afterEach(() => hear({ given: NOON, sentAt: NOON }));

  it('is that of the browser while they differ by some seconds', () => {
    hear({ given: NOON, sentAt: NOON + 6000 });
    expect(aheadAt(NOON)).toBe(0);
    hear({ given: NOON, sentAt: NOON - 9000 });
    expect(aheadAt(NOON)).toBe(0);
  });

  it.each([2 * HOUR_MS, -2 * HOUR_MS, 8760 * HOUR_MS, 60_000])('is known to a second where the browser is %d ms ahead', (fast) => {
    hear({ given: NOON, sentAt: NOON + fast });
    expect(Math.abs(aheadAt(NOON + fast) + fast)).toBeLessThanOrEqual(1000);
  });

  it('does not jump with each answer', () => {
    hear({ given: NOON, sentAt: NOON + HOUR_MS });
    const known = aheadAt(NOON + HOUR_MS);
    for (const later of [300, 700, 999, 1500]) hear({ given: Math.floor((NOON + later) / 1000) * 1000, sentAt: NOON + HOUR_MS + later });
    expect(aheadAt(NOON + HOUR_MS)).toBe(known);
  });

  it('is that of the browser again once its clock is set', () => {
    hear({ given: NOON, sentAt: NOON + HOUR_MS });
    hear({ given: NOON, sentAt: NOON });
    expect(aheadAt(NOON)).toBe(0);
  });

  it('is not learnt from an answer without a date, a slow one, or one across which the clock was set', () => {
    noteServerTime(null, { sentAt: NOON + HOUR_MS, receivedAt: NOON + HOUR_MS });
    hear({ given: NOON, sentAt: NOON + HOUR_MS, receivedAt: NOON + HOUR_MS + 6000 });
    hear({ given: NOON, sentAt: NOON + HOUR_MS, receivedAt: NOON });
    expect(aheadAt(NOON)).toBe(0);
  });
});
