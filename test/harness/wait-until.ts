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
