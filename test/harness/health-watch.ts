import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';

/** In a thread of its own, so that a test that is busy attacking does not measure itself. */
const POLLER = `
const { parentPort, workerData } = require('node:worker_threads');
const [http, https] = [require('node:http'), require('node:https')];
const kept = { keepAlive: true, maxSockets: 4, rejectUnauthorized: false };
const agents = { 'http:': new http.Agent(kept), 'https:': new https.Agent(kept) };
let stopped = false;
const ask = (url, took) => new Promise((resolve) => {
  const from = performance.now();
  const done = (ok) => { took.push(ok ? performance.now() - from : Infinity); resolve(); };
  const { protocol } = new URL(url);
  const request = (protocol === 'https:' ? https : http).get(url, { agent: agents[protocol] }, (answer) => { answer.resume(); answer.on('end', () => done(answer.statusCode === 200)); });
  request.setTimeout(30000, () => request.destroy(new Error('too late')));
  request.on('error', () => done(false));
});
const poll = async ({ url, everyMs }) => {
  const took = [];
  while (!stopped) { await ask(url, took); await new Promise((resolve) => setTimeout(resolve, everyMs)); }
  return took;
};
Promise.all(workerData.map(poll)).then((all) => { for (const agent of Object.values(agents)) agent.destroy(); parentPort.postMessage(all); });
parentPort.on('message', () => { stopped = true; });
`;

/** Processor time of one answer of a yardstick, milliseconds. */
const WORK_MS = 10;

/** Works for each answer for as much processor time, however long that takes. */
const YARDSTICK = `
const used = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
const work = () => { const until = used() + ${WORK_MS}; while (used() < until); };
const server = require('node:http').createServer((request, response) => { work(); response.end(); });
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit()).resume();
`;

/** A server in a process of its own, whose answers tell how much of its processor time a program gets on this machine now. */
export interface Yardstick {
  url: string;
  close(): Promise<void>;
}

export async function startYardstick(): Promise<Yardstick> {
  const child = spawn(process.execPath, ['-e', YARDSTICK], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = (await once(createInterface(child.stdout), 'line')) as [string];
  const close = async (): Promise<void> => {
    const gone = once(child, 'exit');
    child.stdin.end();
    await gone;
  };
  return { url: `http://127.0.0.1:${port}`, close };
}

export interface HealthReading {
  /** Milliseconds; infinite when an answer failed. */
  worst: number;
  median: number;
  count: number;
}

/** What the server took, and what it may take on this machine at this time. */
export interface HealthWatch extends HealthReading {
  /** Milliseconds: the bar, longer by as much as other programs of the machine slow down a program. */
  mayTake: number;
  /** All of it for a message. */
  figures: string;
}

/** Asks `/healthz` of the server every 20 ms, and the yardstick every 100 ms, while `during` runs. */
export async function watchHealth(
  { url, barMs, yardstick }: { url: string; barMs: number; yardstick: Yardstick },
  during: () => Promise<unknown>,
): Promise<HealthWatch> {
  const workerData = [
    { url: `${url}/healthz`, everyMs: 20 },
    { url: yardstick.url, everyMs: 100 },
  ];
  const worker = new Worker(POLLER, { eval: true, workerData });
  try {
    await once(worker, 'online');
    await during();
    const answer = once(worker, 'message');
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
    worker.postMessage('stop');
    const [[took, beside]] = (await answer) as [[number[], number[]]];
    const [reading, machine] = [readingOf(took), readingOf(beside)];
    const mayTake = barMs * Math.max(1, machine.median / WORK_MS) + machine.worst;
    const round = Math.round;
    const figures =
      `worst ${round(reading.worst)} ms of ${reading.count}, median ${round(reading.median)}, allowed ${round(mayTake)}; ` +
      `${WORK_MS} ms of work took ${round(machine.median)}, at worst ${round(machine.worst)}`;
    return { ...reading, mayTake, figures };
  } finally {
    await worker.terminate();
  }
}

function readingOf(took: number[]): HealthReading {
  const sorted = took.toSorted((a, b) => a - b);
  return { worst: sorted.at(-1) ?? 0, median: sorted[Math.floor(sorted.length / 2)] ?? 0, count: sorted.length };
}
