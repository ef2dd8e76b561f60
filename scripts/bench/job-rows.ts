import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { HttpLoad } from './http-load.ts';
import type { JobsServerPart } from './parts/jobs-server.ts';
import { BenchProcess } from './processes.ts';
import type { Row } from './report.ts';
import type { Field } from './field.ts';
import { interleave, median } from './statistics.ts';

/** docs/benchmarks.md: accepted jobs a second, on disk before the 200. */
const JOBS_A_SECOND = 2000;
const AT_ONCE = 64;

const BODY = JSON.stringify({
  description: 'bench',
  script: ':put 1',
  make_backup: false,
  express_execute: false,
  needs_acknowledgement: true,
});

/**
 * Jobs accepted by the whole control plane over HTTP. One caller at a time is one commit for each request; many at a
 * time share commits.
 */
export async function jobRows({ ms, rounds }: Field): Promise<Row[]> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-bench-jobs-'));
  await mkdir(folder, { recursive: true });
  const server = await BenchProcess.start<JobsServerPart>('jobs-server', { folder });
  const http = new HttpLoad(server.result, AT_ONCE);
  const route = `/api/asynchronous/${server.result.routerId}`;
  try {
    await rate(http, route, AT_ONCE, ms);
    const [single, shared] = await interleave(rounds, [() => rate(http, route, 1, ms), () => rate(http, route, AT_ONCE, ms)]);
    const [one, many] = [median(single!), median(shared!)];
    return [
      {
        name: 'jobs accepted a second, durable, to 2,000',
        ratio: many / JOBS_A_SECOND,
        bar: { at: 'least', value: 1 },
        detail: `${Math.round(many)} a second with ${AT_ONCE} callers, ${Math.round(one)} with one (one commit each): ${(many / one).toFixed(1)} times`,
      },
    ];
  } finally {
    http.close();
    await server.process.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Requests answered with 200 a second. */
async function rate(http: HttpLoad, route: string, atOnce: number, ms: number): Promise<number> {
  const startedAt = performance.now();
  let count = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() - startedAt < ms) {
      const status = await http.post(route, BODY);
      if (status !== 200) throw new Error(`a job was answered with ${status}`);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  return count / ((performance.now() - startedAt) / 1000);
}
