import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** In a thread of its own, so that a test that is busy attacking does not measure itself. */
const POLLER = `
const { parentPort, workerData } = require('node:worker_threads');
const http = require('node:http');
const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
const took = [];
let stopped = false;
const ask = () => new Promise((resolve) => {
  const from = performance.now();
  const done = (ok) => { took.push(ok ? performance.now() - from : Infinity); resolve(); };
  const request = http.get(workerData + '/healthz', { agent }, (answer) => { answer.resume(); answer.on('end', () => done(answer.statusCode === 200)); });
  request.setTimeout(30000, () => request.destroy(new Error('too late')));
  request.on('error', () => done(false));
});
(async () => { while (!stopped) { await ask(); await new Promise((resolve) => setTimeout(resolve, 20)); } agent.destroy(); parentPort.postMessage(took); })();
parentPort.on('message', () => { stopped = true; });
`;

export interface HealthReading {
  /** Milliseconds; infinite when an answer failed. */
  worst: number;
  median: number;
  count: number;
}

/** Asks `/healthz` every 20 ms while `during` runs. */
export async function watchHealth(url: string, during: () => Promise<unknown>): Promise<HealthReading> {
  const worker = new Worker(POLLER, { eval: true, workerData: url });
  try {
    await once(worker, 'online');
    await during();
    const answer = once(worker, 'message');
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
    worker.postMessage('stop');
    const [took] = (await answer) as [number[]];
    const sorted = took.toSorted((a, b) => a - b);
    return { worst: sorted.at(-1) ?? 0, median: sorted[Math.floor(sorted.length / 2)] ?? 0, count: sorted.length };
  } finally {
    await worker.terminate();
  }
}
