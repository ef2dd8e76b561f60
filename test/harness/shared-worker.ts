import { afterAll, vi } from 'vitest';

/** The next file runs in this process, too: with a clock that stands still it would hang, and not the one that stopped it. */
afterAll(() => {
  const isLeft = vi.isFakeTimers();
  vi.useRealTimers();
  if (isLeft) throw new Error('this file leaves fake timers behind: call vi.useRealTimers() in afterAll or afterEach');
});
