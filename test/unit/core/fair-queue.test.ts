import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../../server/platform/core/fair-queue.ts';
import { FairTurns } from '../../../server/platform/core/fair-turns.ts';

const always = (): boolean => true;

function drain<T>(queue: FairQueue<T>): T[] {
  const items: T[] = [];
  for (let turn = queue.next(always); turn; turn = queue.next(always)) items.push(turn.item);
  return items;
}

describe('a fair queue', () => {
  it('takes turns between parties, and between members of a party', () => {
    const queue = new FairQueue<string>();
    for (const n of [1, 2, 3]) queue.add({ party: 'greedy', member: 'x' }, `x${n}`);
    queue.add({ party: 'greedy', member: 'y' }, 'y1');
    queue.add({ party: 'modest', member: 'z' }, 'z1');
    expect(drain(queue)).toEqual(['x1', 'z1', 'y1', 'x2', 'x3']);
  });

  it('serves urgent items before the rest of their party, not before other parties', () => {
    const queue = new FairQueue<string>();
    queue.add({ party: 'modest' }, 'm1');
    queue.add({ party: 'greedy' }, 'g1');
    for (const n of [1, 2]) queue.add({ party: 'greedy' }, `urgent${n}`, { urgent: true });
    queue.add({ party: 'modest' }, 'm2');
    expect(drain(queue)).toEqual(['m1', 'urgent1', 'm2', 'urgent2', 'g1']);
  });

  it('skips holders that may not go, and keeps their items', () => {
    const queue = new FairQueue<string>();
    queue.add({ party: 'a', member: 'x' }, 'ax');
    queue.add({ party: 'a', member: 'y' }, 'ay');
    expect(queue.next(({ member }) => member !== 'x')?.item).toBe('ay');
    expect(queue.next(() => false)).toBeUndefined();
    expect(queue.size).toBe(1);
    expect(drain(queue)).toEqual(['ax']);
  });

  it('lets no party wait for more than one turn of every other party', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 60 }), (parties) => {
        const queue = new FairQueue<number>();
        for (const party of parties) queue.add({ party: String(party) }, party);
        const left = new Map([...Map.groupBy(parties, (party) => party)].map(([party, all]) => [party, all.length]));
        const since = new Map<number, Set<number>>();
        for (const item of drain(queue)) {
          for (const [party, others] of since) {
            if (party === item || left.get(party) === 0) continue;
            expect(others.has(item)).toBe(false);
            others.add(item);
          }
          since.set(item, new Set());
          left.set(item, left.get(item)! - 1);
        }
        expect([...left.values()].every((count) => count === 0)).toBe(true);
      }),
    );
  });

  it('drops everything when it is cleared', () => {
    const queue = new FairQueue<string>();
    queue.add({ party: 'a' }, 'x');
    queue.clear();
    expect(queue.size).toBe(0);
    expect(queue.next(always)).toBeUndefined();
  });
});

describe('fair turns', () => {
  it('admit a newcomer while one party waits with a hundred', async () => {
    const turns = new FairTurns({ total: 4, perParty: 2, perMember: 2 });
    const gate = Promise.withResolvers<void>();
    const begun: string[] = [];
    const work = (party: string): Promise<void> =>
      turns.run({ party }, async () => {
        begun.push(party);
        await gate.promise;
      });
    const greedy = Array.from({ length: 100 }, () => work('greedy'));
    const modest = work('modest');
    await Promise.resolve();
    await new Promise(setImmediate);
    expect(begun).toEqual(['greedy', 'greedy', 'modest']);
    gate.resolve();
    await Promise.all([...greedy, modest]);
    expect(turns.shares.taken).toBe(0);
    expect(turns.waiting).toBe(0);
  });

  it('give a turn back when the work fails', async () => {
    const turns = new FairTurns({ total: 1, perParty: 1, perMember: 1 });
    await expect(turns.run({ party: 'a' }, async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await turns.run({ party: 'b' }, async () => 'yes')).toBe('yes');
  });
});
