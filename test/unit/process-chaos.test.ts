import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FleetRecord, Run } from '../harness/chaos/fleet-messages.ts';
import { judgeJobs } from '../harness/chaos/judge.ts';
import type { ShownJob } from '../harness/chaos/judge.ts';
import { CORRUPTIONS, Line } from '../harness/chaos/line.ts';
import type { Corruption } from '../harness/chaos/line.ts';
import { Program } from '../harness/program.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** What test/chaos/processes.long.ts relies on must be able to say no: each of these is a fault that it has to notice. */

let folder: string;
const closers: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-process-chaos-'));
});

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await rm(folder, { recursive: true, force: true });
});

describe('the judge', () => {
  const promised = { jobId: 'job', routerId: 'router', kind: 'ok', key: 'key' } as const;
  const job: ShownJob = { id: 'job', idempotency_key: 'key', status: 'completed', phase: 'done', reason: null, error: null, output: null };
  const rolledBack: ShownJob = { ...job, status: 'failed', reason: 'rolled_back' };
  const run: Run = { jobId: 'job', router: 0, kind: 'script', startedAt: 1, endedAt: 2, error: undefined, outcome: 'ok' };
  const record = (runs: Run[], restores: FleetRecord['restores'] = []): FleetRecord => ({ runs, restores, leftovers: [] });

  test.each<[string, 'lost' | 'twice' | 'false', ShownJob[], FleetRecord]>([
    ['a promised job that is not there', 'lost', [], record([])],
    ['a second run', 'twice', [job], record([run, run])],
    ['completed, and never ran', 'false', [job], record([])],
    ['completed, and broke off', 'false', [job], record([{ ...run, outcome: 'interrupted' }])],
    ['failed, and ran well', 'false', [{ ...job, status: 'failed', reason: 'script_error' }], record([run])],
    ['expired, as by the step of a clock, and ran', 'false', [{ ...job, status: 'expired', phase: 'expired' }], record([run])],
    ['canceled, and ran', 'false', [{ ...job, status: 'deleted', phase: 'canceled' }], record([run])],
    ['completed, and was undone', 'false', [job], record([run], [{ jobId: 'job', hadRun: true }])],
    ['rolled back, by a guard that fired before the run', 'false', [rolledBack], record([run], [{ jobId: 'job', hadRun: false }])],
    ['no end', 'false', [{ ...job, status: 'running', phase: 'running' }], record([run])],
  ])('finds out %s', (_what, kind, jobs, made) => {
    const verdict = judgeJobs([promised], jobs, made);
    expect(verdict.violations).toHaveLength(1);
    expect(verdict).toMatchObject({ lost: 0, twice: 0, false: 0, [kind]: 1 });
  });

  test('finds out one Idempotency-Key with two jobs, as when a clock is set ahead by a day', () => {
    expect(judgeJobs([promised], [job, { ...job, id: 'other' }], record([run])).violations).toEqual(['key key made 2 jobs']);
  });

  test('takes a guard that fired before the run for no undo of it', () => {
    expect(judgeJobs([promised], [job], record([run], [{ jobId: 'job', hadRun: false }])).violations).toEqual([]);
  });

  test('takes an honest unknown and an expired job that never ran', () => {
    const jobs = [
      { ...job, status: 'unknown', phase: 'unknown' },
      { ...job, id: 'other', idempotency_key: 'b', status: 'expired', phase: 'expired' },
    ];
    const verdict = judgeJobs([promised, { ...promised, jobId: 'other', key: 'b' }], jobs, record([run]));
    expect(verdict).toMatchObject({ violations: [], unknown: 1, outcomes: { unknown: 1, expired: 1 } });
  });
});

describe('a program', () => {
  const start = async (text: string): Promise<Program> => {
    const file = path.join(folder, 'program.mjs');
    await writeFile(file, text);
    const program = new Program(path.relative(fileURLToPath(new URL('../..', import.meta.url)), file), [path.join(folder, 'clock')]);
    closers.push(() => program.kill());
    program.start();
    return program;
  };

  test.each([
    ['exits with 0', 'process.exit(0)', { code: 0, signal: null }],
    [
      'throws where nobody catches',
      'setTimeout(() => { throw new Error("last words"); }, 10)',
      { code: 1, lastWords: expect.stringContaining('last words') },
    ],
    ['is killed by somebody else', 'process.kill(process.pid, "SIGKILL")', { code: null, signal: 'SIGKILL' }],
  ])('that %s has ended by itself', async (_how, text, end) => {
    const program = await start(text);
    await waitUntil('its end is recorded', () => program.unaskedEnds.length > 0);
    expect(program.unaskedEnds).toEqual([expect.objectContaining(end)]);
  });

  test('that is killed or stopped has not', async () => {
    const program = await start('setInterval(() => undefined, 1000)');
    await program.kill();
    program.start();
    await program.stop();
    program.start();
    await waitUntil('it runs', () => program.isRunning);
    expect(program.unaskedEnds).toEqual([]);
  });

  test('that ended just before it was to be killed has ended by itself', async () => {
    const program = await start('process.on("SIGUSR2", () => process.exit(3)); console.log("ready"); setInterval(() => undefined, 1000)');
    await waitUntil('it is ready', () => program.output.includes('ready'));
    const { pid } = program;
    process.kill(pid, 'SIGUSR2');
    await waitUntil('it has ended', () => !isAlive(pid));
    await program.kill();
    await waitUntil('its end is recorded', () => program.unaskedEnds.length > 0);
    expect(program.unaskedEnds).toMatchObject([{ code: 3 }]);
  });

  test('has the wall clock that is set, everywhere, and right timers', async () => {
    const day = 86_400_000;
    await writeFile(path.join(folder, 'clock'), '0');
    const module = new URL('../harness/chaos/wrong-clock.ts', import.meta.url).href;
    const say =
      'console.log(JSON.stringify([Date.now(), new Date().getTime(), Date.parse(Date()), performance.now(), new Date(5).getTime()]))';
    const program = await start(`import ${JSON.stringify(module)}; setInterval(() => ${say}, 20)`);
    const last = () => JSON.parse(program.output.trim().split('\n').at(-1)!) as [number, number, number, number, number];
    await waitUntil('it speaks', () => program.output.endsWith(']\n'));
    const before = last();
    await writeFile(path.join(folder, 'clock'), String(-day));
    const after = await waitUntil('it is a day behind', () => {
      const said = program.output.endsWith(']\n') ? last() : before;
      return said[0] < before[0] - day / 2 ? said : undefined;
    });
    for (const at of [0, 1, 2] as const) expect(Math.abs(after[at] - (before[at] - day))).toBeLessThan(60_000);
    expect(after[3] - before[3]).toBeGreaterThan(0);
    expect(after[3] - before[3]).toBeLessThan(60_000);
    expect(after[4]).toBe(5);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a line', () => {
  const BYTES = Buffer.from(Array.from({ length: 100 }, (_, index) => index));

  /** What the far end gets of a hundred bytes that are sent in two parts. */
  async function carried(corruption: Corruption): Promise<{ got: Buffer; isClosed: boolean }> {
    const chunks: Buffer[] = [];
    let isClosed = false;
    const server = net.createServer((socket) => {
      socket
        .on('data', (chunk) => chunks.push(chunk))
        .on('close', () => (isClosed = true))
        .on('error', () => undefined);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const line = await Line.start((server.address() as AddressInfo).port);
    const client = net.connect({ port: line.port, host: '127.0.0.1', noDelay: true }).on('error', () => undefined);
    closers.push(async () => {
      client.destroy();
      await line.close();
      server.close();
    });
    const happened = line.corrupt(corruption);
    client.write(BYTES.subarray(0, 40));
    await waitUntil('the first part is there', () => Buffer.concat(chunks).length === 40);
    client.write(BYTES.subarray(40));
    await happened;
    const isOver = (): boolean => isClosed || corruption.fault === 'stall' || Buffer.concat(chunks).at(-1) === BYTES.at(-1);
    await waitUntil('all is there', isOver);
    return { got: Buffer.concat(chunks), isClosed };
  }

  test.each(CORRUPTIONS)('does %s to its bytes from a place in mid-stream on', async (fault) => {
    const { got, isClosed } = await carried({ fault, direction: 'to-server', afterBytes: 50, seed: 3 });
    expect(got.subarray(0, 40)).toEqual(BYTES.subarray(0, 40));
    if (fault === 'flip')
      expect([got.length, ...got.map((byte, at) => (byte === BYTES[at] ? 0 : byte ^ BYTES[at]!))].filter(Boolean)).toEqual([100, 1 << 3]);
    else if (fault === 'noise') expect([got.length, got.subarray(50, 66).equals(BYTES.subarray(50, 66))]).toEqual([100, false]);
    else if (fault === 'insert') expect([got.length, got.subarray(66).equals(BYTES.subarray(50))]).toEqual([116, true]);
    else if (fault === 'drop') expect(got.subarray(50)).toEqual(BYTES.subarray(66));
    else if (fault === 'repeat') expect(got.subarray(66)).toEqual(BYTES.subarray(50));
    else expect([got.length <= 50, isClosed]).toEqual([true, fault !== 'stall']);
  });
});
