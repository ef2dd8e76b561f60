import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CLOSED_GATE, step } from '../../../server/fleet/faults/gate.ts';
import type { Gate, Verdict } from '../../../server/fleet/faults/gate.ts';

const patience = { toOpen: 3, toResolve: 2 };

/** b = bad, g = good, - = between; one reading a minute. Answers `open@2` for a change dated to reading 2. */
function play(readings: string): string[] {
  const verdicts: Record<string, Verdict> = { b: 'bad', g: 'good', '-': 'between' };
  const changes: string[] = [];
  let gate: Gate = CLOSED_GATE;
  for (const [minute, letter] of readings.split('').entries()) {
    const next = step(gate, verdicts[letter]!, minute, patience);
    gate = next.gate;
    if (next.changedAt !== undefined) changes.push(`${gate.open ? 'open' : 'resolve'}@${next.changedAt}`);
  }
  return changes;
}

describe('a fault opens after three bad readings in a row and resolves after two good ones', () => {
  test.each([
    ['ggbb', []],
    ['gbbb', ['open@1']],
    ['bbgbb', []],
    ['bb-bb', []],
    ['bbbbbb', ['open@0']],
    ['bbbgbg', ['open@0']],
    ['bbbg-g', ['open@0']],
    ['bbb--gg', ['open@0', 'resolve@5']],
    ['bbbggbbb', ['open@0', 'resolve@3', 'open@5']],
    ['bgbgbgbgbg', []],
  ])('%s: %j', (readings, expected) => {
    expect(play(readings)).toEqual(expected);
  });
});

test('with any readings, it opens and resolves alternately, and never more often than the patience allows', () => {
  const reading = fc.constantFrom('b', 'g', '-');
  fc.assert(
    fc.property(fc.array(reading, { maxLength: 200 }), (readings) => {
      const changes = play(readings.join(''));
      for (const [index, change] of changes.entries()) {
        expect(change.startsWith(index % 2 === 0 ? 'open' : 'resolve')).toBe(true);
      }
      expect(changes.length).toBeLessThanOrEqual(readings.length / 2.5 + 1);
      const moments = changes.map((change) => Number(change.split('@')[1]));
      expect(moments).toEqual([...moments].sort((a, b) => a - b));
    }),
  );
});
