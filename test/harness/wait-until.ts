/** A condition that holds after seconds on a quiet machine may take a minute beside busy ones. */
const PATIENCE_MS = 60_000;

/**
 * Resolves with the first answer of `ask` that is neither false nor undefined; looks every few milliseconds and gives
 * up with `what` after `timeoutMs`.
 */
export async function waitUntil<T>(
  what: string,
  ask: () => T | false | undefined | Promise<T | false | undefined>,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== false && answer !== undefined) return answer;
    if (performance.now() > giveUpAt) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/**
 * Resolves with the first result of `check` that is no error; tries every few milliseconds and rejects with the last error after a
 * minute. Vitest's own `vi.waitFor` gives up after a second.
 */
export async function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
