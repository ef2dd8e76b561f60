import { describe, expect, it } from 'vitest';
import { PORT_QUARANTINE_MS, choosePort } from '../../../server/forwards/ports.ts';

const range = { from: 1000, to: 1003 };
const none: ReadonlySet<number> = new Set();
const first = (): number => 0;

describe('the port of a new forward', () => {
  it('is any that nobody has used lately, beginning somewhere in the range', () => {
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
