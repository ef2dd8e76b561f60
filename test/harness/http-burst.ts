import http from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

/** A worker thread that sends POST requests all at once and reports how each was answered. */

export interface Answer {
  status: number;
  retryAfter: string | undefined;
  /** From before the connection until the end of the answer. */
  ms: number;
}

interface Burst {
  port: number;
  count: number;
  path: string;
  key: string;
  body: string;
}

function send({ port, path, key, body }: Burst): Promise<Answer> {
  const started = performance.now();
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  return new Promise((resolve, reject) => {
    http
      .request({ port, host: '127.0.0.1', path, method: 'POST', headers, agent: false }, (response) => {
        response.resume();
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], ms: performance.now() - started });
        });
      })
      .on('error', reject)
      .end(body);
  });
}

const burst = workerData as Burst;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
parentPort!.postMessage(await Promise.all(Array.from({ length: burst.count }, () => send(burst))));
