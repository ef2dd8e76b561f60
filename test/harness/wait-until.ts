/** Resolves once `condition` holds; looks every few milliseconds and gives up with `what` after `timeoutMs`. */
export async function waitUntil(what: string, condition: () => boolean, timeoutMs = 5000): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > giveUpAt) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
