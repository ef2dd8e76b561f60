import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

/** By address: their types are those of a browser, which the tests do not know. */
const PARTS = new URL('../../../console/src/parts/', import.meta.url).pathname;

interface Press {
  isHeld: () => boolean;
  subscribeToHeld: (listener: () => void) => () => void;
}
type WriteAtPause = (write: () => void) => () => void;

describe('between a press and its click', () => {
  let window: EventTarget;
  let press: Press;

  beforeEach(async () => {
    vi.useFakeTimers();
    window = new EventTarget();
    vi.stubGlobal('window', window);
    vi.stubGlobal('document', window);
    vi.stubGlobal('addEventListener', window.addEventListener.bind(window));
    vi.resetModules();
    press = (await import(`${PARTS}press.ts`)) as Press;
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  const happen = (type: string, pointerType = 'mouse') => window.dispatchEvent(Object.assign(new Event(type), { button: 0, pointerType }));

  it('rows stay until the turn in which a mouse was let go is over', () => {
    const told = vi.fn<() => void>();
    press.subscribeToHeld(told);
    happen('pointerdown');
    expect(press.isHeld()).toBe(true);
    happen('pointerup');
    happen('click');
    expect([press.isHeld(), told.mock.calls.length]).toEqual([true, 0]);
    vi.advanceTimersByTime(1);
    expect([press.isHeld(), told.mock.calls.length]).toEqual([false, 1]);
  });

  it('rows stay after the turn in which a mouse was let go where no click came', () => {
    happen('pointerdown');
    happen('pointerup');
    vi.advanceTimersByTime(1);
    expect(press.isHeld()).toBe(false);
  });

  it.each(['touch', 'pen', ''])('rows stay until the click, which comes in a later turn than the end of a press by %j', (pointerType) => {
    happen('pointerdown', pointerType);
    happen('pointerup', pointerType);
    vi.advanceTimersByTime(300);
    expect(press.isHeld()).toBe(true);
    happen('click', pointerType);
    // What hears the click after this one still finds the row.
    expect(press.isHeld()).toBe(true);
    vi.advanceTimersByTime(1);
    expect(press.isHeld()).toBe(false);
  });

  it('rows stay for 350 ms when a touch does not become a click', () => {
    happen('pointerdown', 'touch');
    happen('pointerup', 'touch');
    vi.advanceTimersByTime(349);
    expect(press.isHeld()).toBe(true);
    vi.advanceTimersByTime(1);
    expect(press.isHeld()).toBe(false);
  });

  it('rows do not wait for a click after a touch that became a scroll', () => {
    happen('pointerdown', 'touch');
    happen('pointercancel', 'touch');
    vi.advanceTimersByTime(1);
    expect(press.isHeld()).toBe(false);
  });

  it('rows stay during a second touch soon after the first', () => {
    happen('pointerdown', 'touch');
    happen('pointerup', 'touch');
    vi.advanceTimersByTime(200);
    happen('pointerdown', 'touch');
    vi.advanceTimersByTime(2999);
    expect(press.isHeld()).toBe(true);
    vi.advanceTimersByTime(2);
    expect(press.isHeld()).toBe(false);
  });

  describe('what is typed', () => {
    let writeAtPause: WriteAtPause;
    const written = vi.fn<() => void>();

    beforeEach(async () => {
      ({ writeAtPause } = (await import(`${PARTS}use-typed.ts`)) as { writeAtPause: WriteAtPause });
      written.mockClear();
    });

    it('is written once when the pause ends and the field is left in one press', () => {
      writeAtPause(written);
      happen('pointerdown');
      happen('focusout');
      vi.advanceTimersByTime(250);
      expect(written).not.toHaveBeenCalled();
      happen('pointerup');
      expect(written).toHaveBeenCalledOnce();
    });

    it('is not written any more when other text takes its place in the same press', () => {
      const giveUp = writeAtPause(written);
      happen('pointerdown');
      happen('focusout');
      vi.advanceTimersByTime(250);
      giveUp();
      happen('pointerup');
      expect(written).not.toHaveBeenCalled();
    });
  });
});
