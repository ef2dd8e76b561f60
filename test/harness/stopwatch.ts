import { readFileSync } from 'node:fs';

/** Time for which this thread could have run and got no processor, milliseconds (proc(5), `schedstat`); 0 where the kernel does not tell. */
function waitedForProcessorMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** Elapsed time without the waits for a processor that other programs had: a test that bounds a time judges the product, not the machine. */
export class Stopwatch {
  #startedAt = performance.now();
  #waitedMs = waitedForProcessorMs();

  /** Since the start or the last `restart`, milliseconds. */
  get ms(): number {
    return performance.now() - this.#startedAt - (waitedForProcessorMs() - this.#waitedMs);
  }

  restart(): void {
    this.#startedAt = performance.now();
    this.#waitedMs = waitedForProcessorMs();
  }
}
