import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemberList } from '../../../runtime/member-list.ts';

describe('a list', () => {
  it('holds exactly the added members that were not removed, in any order of changes', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constant('come' as const), fc.nat(50))), (steps) => {
        const list = new MemberList<number>();
        const present = new Map<number, () => void>();
        const gone: (() => void)[] = [];
        for (const [number, step] of steps.entries()) {
          if (step === 'come') {
            present.set(number, list.add(number));
            continue;
          }
          const [who, leave] = [...present][step % Math.max(present.size, 1)] ?? [];
          if (who === undefined || leave === undefined) continue;
          leave();
          gone.push(leave);
          present.delete(who);
        }
        // A member that was removed must not remove another.
        for (const leave of gone) leave();
        expect(list.size).toBe(present.size);
        expect(list.members().toSorted((a, b) => a - b)).toEqual([...present.keys()]);
      }),
    );
  });

  it('allows removals during the iteration', () => {
    const list = new MemberList<{ leave: () => void }>();
    for (let i = 0; i < 10; i += 1) {
      const member = { leave: () => undefined as void };
      member.leave = list.add(member);
    }
    for (const member of list.members()) member.leave();
    expect(list.size).toBe(0);
  });

  it('accepts the same member twice and removes each separately', () => {
    const list = new MemberList<string>();
    const leaveFirst = list.add('x');
    list.add('x');
    leaveFirst();
    leaveFirst();
    expect(list.members()).toEqual(['x']);
  });
});
