import { describe, expect, it } from 'vitest';
import { PORTS_PER_TEAM, PORT_QUARANTINE_MS, choosePort as choose } from '../../../server/work/forwards/entry/ports.ts';

const range = { from: 1000, to: 1003 };
const none: ReadonlySet<number> = new Set();
const first = (): number => 0;

/** For the only team there is. */
function choosePort(
  ports: typeof range,
  uses: { port: number; closedAt: number | null }[],
  unusable: ReadonlySet<number>,
  random: () => number,
) {
  return choose({ range: ports, uses: uses.map((use) => ({ ...use, teamId: 'a' })), unusable, teamId: 'a', isOnlyTeam: true }, random);
}

describe('the port of a new forward', () => {
  it('is any that was not used recently, starting at a random place in the range', () => {
    expect(choosePort(range, [], none, first)).toEqual({ state: 'free', port: 1000 });
    expect(choosePort(range, [], none, () => 0.999)).toEqual({ state: 'free', port: 1003 });
  });

  it('is not one that is open', () => {
    expect(choosePort(range, [{ port: 1000, closedAt: null }], none, first)).toEqual({ state: 'free', port: 1001 });
  });

  it('is not one that was closed a moment ago', () => {
    expect(choosePort(range, [{ port: 1000, closedAt: 5 }], none, first)).toEqual({ state: 'free', port: 1001 });
  });

  it('does not exist when all are open or were lately, until the one closed longest has waited long enough', () => {
    const uses = [
      { port: 1000, closedAt: 9 },
      { port: 1001, closedAt: null },
      { port: 1002, closedAt: 3 },
      { port: 1003, closedAt: 1 },
      { port: 1003, closedAt: 8 },
    ];
    expect(choosePort(range, uses, none, first)).toEqual({ state: 'exhausted', until: 3 + PORT_QUARANTINE_MS });
  });

  it('is not one that another program holds', () => {
    expect(choosePort(range, [], new Set([1000, 1001]), first)).toEqual({ state: 'free', port: 1002 });
  });

  it('does not exist when all are open', () => {
    const uses = [1000, 1001, 1002].map((port) => ({ port, closedAt: null }));
    expect(choosePort(range, uses, new Set([1003]), first)).toEqual({ state: 'exhausted', until: undefined });
  });
});

describe('the share of a team in the ports', () => {
  const large = { from: 1000, to: 1099 };
  const used = (teamId: string, from: number, count: number, closedAt: number | null = null) =>
    Array.from({ length: count }, (_unused, index) => ({ port: from + index, teamId, closedAt }));
  const chosen = (uses: ReturnType<typeof used>, teamId: string, unusable = none) =>
    choose({ range: large, uses, unusable, teamId, isOnlyTeam: false }, first);

  it('is as much as it leaves free, its quarantine included, and another team finds a port', () => {
    const uses = [...used('greedy', 1000, 20), ...used('greedy', 1020, 30, 7)];
    expect(chosen(uses, 'greedy')).toEqual({ state: 'share_used_up', held: 50, until: 7 + PORT_QUARANTINE_MS });
    expect(chosen(uses, 'modest')).toEqual({ state: 'free', port: 1050 });
    expect(chosen(uses.slice(1), 'greedy')).toMatchObject({ state: 'free' });
  });

  it('does not count what other teams have used, nor what lies outside of the range', () => {
    expect(chosen([...used('other', 1000, 60), ...used('third', 5000, 60)], 'modest')).toMatchObject({ state: 'free' });
  });

  it('counts what other programs hold as not free', () => {
    const held = new Set(Array.from({ length: 80 }, (_unused, index) => 1020 + index));
    expect(chosen(used('greedy', 1000, 10), 'greedy', held)).toMatchObject({ state: 'share_used_up' });
  });

  it('gives the last port to a team that holds none, and then says that there is none', () => {
    expect(chosen(used('greedy', 1000, 99), 'modest')).toEqual({ state: 'free', port: 1099 });
    expect(chosen(used('greedy', 1000, 100), 'modest')).toEqual({ state: 'exhausted', until: undefined });
  });

  it('is bounded in a large range too', () => {
    const request = { range: { from: 1, to: 60_000 }, unusable: none, teamId: 'greedy', isOnlyTeam: false };
    expect(choose({ ...request, uses: used('greedy', 1, PORTS_PER_TEAM) })).toMatchObject({ state: 'share_used_up' });
    expect(choose({ ...request, uses: used('greedy', 1, PORTS_PER_TEAM - 1) })).toMatchObject({ state: 'free' });
  });
});
