import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairShares } from '../../../runtime/fair-shares.ts';
import type { Holder } from '../../../runtime/fair-shares.ts';

const holder = fc.record({ party: fc.constantFrom('a', 'b', 'c', 'd'), member: fc.constantFrom('1', '2', '3', undefined) });
const limits = fc.record({
  total: fc.integer({ min: 1, max: 40 }),
  perParty: fc.integer({ min: 1, max: 40 }),
  perMember: fc.integer({ min: 1, max: 40 }),
});
const steps = fc.array(fc.record({ holder, takes: fc.boolean() }), { maxLength: 200 });

/** Plays the steps; gives back only what is held. Calls `check` with what is held before every take. */
function play(
  shares: FairShares,
  all: { holder: Holder; takes: boolean }[],
  check: (holder: Holder, held: Holder[], took: boolean) => void,
): Holder[] {
  const held: Holder[] = [];
  for (const { holder: each, takes } of all) {
    const at = held.findIndex(({ party, member }) => party === each.party && member === each.member);
    if (takes) {
      const before = [...held];
      const took = shares.take(each);
      if (took) held.push(each);
      check(each, before, took);
    } else if (at >= 0) {
      held.splice(at, 1);
      shares.giveBack(each);
    }
  }
  return held;
}

const ofParty = (held: Holder[], party: string): number => held.filter((each) => each.party === party).length;
const ofMember = (held: Holder[], { party, member }: Holder): number =>
  held.filter((each) => each.party === party && each.member === member).length;

describe('shares of a resource', () => {
  it('never exceed a limit, and count the held units', () => {
    fc.assert(
      fc.property(limits, steps, (given, all) => {
        const shares = new FairShares(given);
        const held = play(shares, all, () => undefined);
        expect(shares.taken).toBe(held.length);
        expect(held.length).toBeLessThanOrEqual(given.total);
        for (const each of held) {
          expect(shares.heldBy(each.party)).toBe(ofParty(held, each.party));
          expect(ofParty(held, each.party)).toBeLessThanOrEqual(given.perParty);
          if (each.member !== undefined) expect(ofMember(held, each)).toBeLessThanOrEqual(given.perMember);
        }
      }),
    );
  });

  it('always leave one for a party that holds none, unless all are taken', () => {
    fc.assert(
      fc.property(limits, steps, (given, all) => {
        play(new FairShares(given), all, ({ party }, before, took) => {
          if (ofParty(before, party) === 0) expect(took).toBe(before.length < given.total);
        });
      }),
    );
  });

  it('give the last one only to a party that holds none', () => {
    fc.assert(
      fc.property(limits, steps, (given, all) => {
        play(new FairShares(given), all, ({ party }, before, took) => {
          if (took && before.length === given.total - 1) expect(ofParty(before, party)).toBe(0);
        });
      }),
    );
  });

  it('leave one for a member that holds none while its party may have two more', () => {
    fc.assert(
      fc.property(limits, steps, (given, all) => {
        play(new FairShares(given), all, (each, before, took) => {
          const mine = ofParty(before, each.party);
          const mayHave = Math.min(given.perParty, given.total - before.length);
          if (ofMember(before, each) === 0 && mine < mayHave) expect(took).toBe(true);
        });
      }),
    );
  });

  it('leave half of the rest after each party that takes all it can get', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 0, max: 8 }), (total, greedy) => {
        const shares = new FairShares({ total, perParty: Infinity, perMember: Infinity });
        for (let party = 0; party < greedy; party += 1) while (shares.take({ party: String(party) }));
        expect(total - shares.taken).toBe(Math.floor(total / 2 ** greedy));
      }),
    );
  });

  it('become equal when greedy parties give back and take in turn', () => {
    const shares = new FairShares({ total: 60, perParty: Infinity, perMember: Infinity });
    const parties = ['early', 'later', 'last'];
    for (const party of parties) while (shares.take({ party }));
    for (let round = 0; round < 200; round += 1) {
      for (const party of parties) shares.giveBack({ party });
      for (const party of parties) while (shares.take({ party }));
    }
    const held = parties.map((party) => shares.heldBy(party));
    expect(Math.max(...held) - Math.min(...held)).toBeLessThanOrEqual(3);
  });

  it('name the limit that refuses, the parties and members at their limits, and count refusals', () => {
    const shares = new FairShares({ total: 8, perParty: 3, perMember: 2 });
    expect([1, 2, 3].map(() => shares.take({ party: 'a', member: 'x' }))).toEqual([true, true, false]);
    expect(shares.limitFor({ party: 'a', member: 'x' })).toBe('member');
    expect(shares.busyMembers('a')).toEqual(['x']);
    expect(shares.take({ party: 'a', member: 'y' })).toBe(true);
    expect(shares.take({ party: 'a', member: 'z' })).toBe(false);
    expect(shares.busyParties).toEqual(['a']);
    expect(shares.refusals).toEqual({ total: 0, party: 1, member: 1 });
    for (const party of ['b', 'c', 'd', 'e', 'f']) shares.take({ party });
    expect(shares.limitFor({ party: 'g' })).toBe('total');
  });

  it('are not given back twice', () => {
    const shares = new FairShares({ total: 1, perParty: 1, perMember: 1 });
    expect(() => shares.giveBack({ party: 'a' })).toThrow(RangeError);
  });
});
