import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chartOf, scaleOf } from '../../../console/src/pages/fleet/router/tabs/chart.ts';
import type { ChartStep } from '../../../console/src/pages/fleet/router/tabs/chart.ts';

const step = (min: number, max = min, from = 0): ChartStep => ({ from, to: from + 1, min, mean: (min + max) / 2, max });

describe('the axis of values of a chart', () => {
  it.each([
    ['nothing measured', [], undefined, { bottom: 0, top: 1 }],
    ['always zero', [0, 0], undefined, { bottom: 0, top: 1 }],
    ['always the same', [41, 41], undefined, { bottom: 0, top: 50 }],
    ['always the same fraction', [0.03, 0.03], undefined, { bottom: 0, top: 0.05 }],
    ['a known top', [41, 41], 100, { bottom: 0, top: 100 }],
    ['frost', [-4, -4], undefined, { bottom: -5, top: 0 }],
    ['frost by night', [-4, 12], undefined, { bottom: -5, top: 20 }],
  ])('has two ends: %s', (_, values, most, scale) => {
    expect(
      scaleOf(
        values.map((value) => step(value)),
        most,
      ),
    ).toEqual(scale);
  });

  it('has ends that differ and hold every value, whatever was measured', () => {
    const values = fc.array(fc.integer({ min: -1e9, max: 1e9 }).map((thousandths) => thousandths / 1000));
    fc.assert(
      fc.property(values, (measured) => {
        const { bottom, top } = scaleOf(measured.map((value) => step(value)));
        expect(top).toBeGreaterThan(bottom);
        for (const value of measured) expect(value >= bottom && value <= top).toBe(true);
      }),
    );
  });

  it('puts the line of equal values between the ends, and the greatest value beside it is the one measured', () => {
    const { line, greatest } = chartOf([step(25), step(25, 25, 1)], { from: 0, to: 2 }, { width: 100, height: 100 });
    expect(line).toBe('M0.0,50.0L50.0,50.0L50.0,50.0L100.0,50.0');
    expect(greatest).toBe(25);
    expect(chartOf([step(-4, -2)], { from: 0, to: 1 }, { width: 100, height: 100 }).greatest).toBe(-2);
  });
});
