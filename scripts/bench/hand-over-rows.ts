import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { Pool } from 'undici';
import type { RecordingSimulatorPart } from './parts/recording-simulator.ts';
import type { ServerPart } from './parts/server.ts';
import { BENCH_LOGIN } from './parts/simulator.ts';
import { caller, waitForRouter } from './paths.ts';
import { BenchProcess } from './processes.ts';
import type { Row } from './report.ts';
import { median, quantile } from './statistics.ts';

/** Enough that the 99th percentile is more than one sample. */
const LEAST_JOBS = 200;
const FINISH_WITHIN_MS = 10_000;

const BODY = JSON.stringify({
  description: 'bench',
  script: ':put 1',
  make_backup: false,
  express_execute: true,
  needs_acknowledgement: true,
});

const COMMAND = JSON.stringify({ command: '/system/identity/print', parameters: '' });

interface Sample {
  /** Milliseconds from the 200 to the start of the script on the router, and to the completed job. */
  begunMs: number;
  completedMs: number;
}

/**
 * How long an express job takes from the control plane's 200 until its script starts on the router, and until it is
 * completed. Between them lie two transactions, four flushes of the agent's journal, and the router's operations: who it is,
 * whether the script ran before, its syntax check and storing it. One job at a time.
 */
export async function handOverRows({ ms, rounds }: { ms: number; rounds: number }): Promise<Row[]> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-bench-hand-over-'));
  const processes: BenchProcess[] = [];
  const start = async <T>(part: string, options: unknown): Promise<T> => {
    const { process, result } = await BenchProcess.start<T>(part, options);
    processes.push(process);
    return result;
  };
  try {
    const router = await start<RecordingSimulatorPart>('recording-simulator', {});
    const server = await start<ServerPart>('server', { folder });
    await start<null>('agent', {
      folder,
      server: server.url,
      enrolToken: server.enrolToken,
      router: { apiPort: router.apiPort, ...BENCH_LOGIN },
    });
    const routerId = await waitForRouter(caller(server, undefined));
    const api = new Api(server);
    try {
      const command = await commandMs(api, routerId, ms);
      const samples = await measureJobs(api, routerId, { recordPort: router.recordPort, forMs: ms * rounds });
      return [handOverRow(samples, command)];
    } finally {
      await api.close();
    }
  } finally {
    await Promise.all(processes.map((process) => process.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

function handOverRow(samples: Sample[], command: number): Row {
  const begun = samples.map(({ begunMs }) => begunMs);
  const completed = samples.map(({ completedMs }) => completedMs);
  const show = (times: number[]): string => `p50 ${median(times).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms`;
  return {
    name: 'express job, 200 to completed, to a command',
    ratio: median(completed) / command,
    bar: undefined,
    detail: `begun on the router ${show(begun)}; completed ${show(completed)}; a command ${command.toFixed(1)} ms; ${samples.length} jobs`,
  };
}

/** Requests over one persistent connection. */
class Api {
  readonly #pool: Pool;
  readonly #apiKey: string;

  constructor({ url, apiKey }: ServerPart) {
    this.#pool = new Pool(url, { connections: 1 });
    this.#apiKey = apiKey;
  }

  async call<T>(method: 'GET' | 'POST', route: string, body?: string): Promise<T> {
    const headers = { authorization: `Bearer ${this.#apiKey}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const answer = await this.#pool.request({ method, path: route, headers, ...(body === undefined ? {} : { body }) });
    if (answer.statusCode !== 200) throw new Error(`${method} ${route}: ${answer.statusCode} ${await answer.body.text()}`);
    return (await answer.body.json()) as T;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** The same round trip to the router without durable writes. */
async function commandMs(api: Api, routerId: string, ms: number): Promise<number> {
  const times: number[] = [];
  for (const until = performance.now() + ms; performance.now() < until;) {
    const began = performance.now();
    await api.call('POST', `/api/synchronous/${routerId}`, COMMAND);
    times.push(performance.now() - began);
  }
  return median(times);
}

interface Job {
  status: string;
  completed_at: string | null;
}

async function measureJobs(api: Api, routerId: string, { recordPort, forMs }: { recordPort: number; forMs: number }): Promise<Sample[]> {
  const jobs: { id: string; acceptedAt: number; completedAt: number }[] = [];
  for (const until = performance.now() + forMs; performance.now() < until || jobs.length < LEAST_JOBS;) {
    const { data } = await api.call<{ data: { job_id: string } }>('POST', `/api/asynchronous/${routerId}`, BODY);
    const acceptedAt = Date.now();
    const job = await finish(() => api.call<{ data: Job }>('GET', `/api/routers/${routerId}/jobs/${data.job_id}`));
    jobs.push({ id: data.job_id, acceptedAt, completedAt: Date.parse(job.completed_at ?? '') });
  }
  const begunAt = JSON.parse(await text(net.connect(recordPort, '127.0.0.1'))) as Record<string, number>;
  return jobs.map(({ id, acceptedAt, completedAt }) => ({
    begunMs: begunAt[`signalbox-${id}`]! - acceptedAt,
    completedMs: completedAt - acceptedAt,
  }));
}

/** Polled rarely enough not to influence the measurement. */
async function finish(read: () => Promise<{ data: Job }>): Promise<Job> {
  const giveUpAt = performance.now() + FINISH_WITHIN_MS;
  while (performance.now() < giveUpAt) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    const { data } = await read();
    if (data.status === 'completed') return data;
    if (data.status !== 'pending' && data.status !== 'running') throw new Error(`a job ended as ${data.status}`);
  }
  throw new Error('a job did not end');
}
