import { setTimeout as pause } from 'node:timers/promises';
import { HttpLoad } from '../http-load.ts';
import { quantile } from '../statistics.ts';

/** A person who reads the first routers of the list, ten times a second. */
const EVERY_MS = 100;
const ROUTE = '/api/routers?limit=10';

export interface Visit {
  p99Ms: number;
  errors: number;
  count: number;
}

/** A user who reads while `work` runs. Each GET starts by the clock, so that a slow answer does not hide those that would have waited behind it. */
export async function visitWhile(api: { url: string; apiKey: string }, work: () => Promise<void>): Promise<Visit> {
  const http = new HttpLoad(api, 50);
  const times: number[] = [];
  let errors = 0;
  const over = new AbortController();
  const under: Promise<void>[] = [];
  const read = async (): Promise<void> => {
    const begun = performance.now();
    const status = await http.get(ROUTE).catch(() => 0);
    if (status === 200) times.push(performance.now() - begun);
    else errors += 1;
  };
  const visiting = (async () => {
    const begun = performance.now();
    for (let count = 0; !over.signal.aborted; count += 1) {
      under.push(read());
      await pause(Math.max(0, begun + (count + 1) * EVERY_MS - performance.now()));
    }
  })();
  try {
    await work();
  } finally {
    over.abort();
    await visiting;
    await Promise.all(under);
    http.close();
  }
  return { p99Ms: times.length === 0 ? Number.POSITIVE_INFINITY : quantile(times, 0.99), errors, count: times.length + errors };
}
