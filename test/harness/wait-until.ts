/** A condition that holds after seconds on a quiet machine may take more than a minute beside busy ones. */
const PATIENCE_MS = 120_000;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 25;

/** What has not come for long is looked for more rarely: many looks are requests, and their cost slows down what they wait for. */
function pause(waitedMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, waitedMs / 20))));
}

/**
 * Resolves with the first answer of `ask` that is neither false nor undefined; looks every few milliseconds and gives
 * up with `what` after `timeoutMs`.
 */
export async function waitUntil<T>(
  what: string,
  ask: () => T | false | undefined | Promise<T | false | undefined>,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== false && answer !== undefined) return answer;
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > timeoutMs) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`);
    await pause(waitedMs);
  }
}

/**
 * Resolves with the first result of `check` that is no error; tries every few milliseconds and rejects with the last error after two
 * minutes. Vitest's own `vi.waitFor` gives up after a second.
 */
export async function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      const waitedMs = performance.now() - startedAt;
      if (waitedMs > PATIENCE_MS) throw error;
      await pause(waitedMs);
    }
  }
}
