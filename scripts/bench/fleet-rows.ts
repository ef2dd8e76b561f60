import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { findPostgres, postgresUrl, startPostgres } from '../../test/harness/postgres-server.ts';
import type { Choice } from './field.ts';
import { addQueuedJobs, fillDatabase } from './fleet/filled.ts';
import { FleetProcess, measureBare, measureConnecting, measureSteady } from './fleet/measure.ts';
import type { Connected } from './fleet/measure.ts';
import { Served } from './fleet/served.ts';
import { workRows } from './fleet/work.ts';
import type { Row } from './report.ts';

/**
 * The bars are those of 10,000 agents on two cores. A smaller fleet gets its share where a bar grows with the fleet: of times, but no less than
 * the seconds that any fleet takes; of steady CPU, beyond what the control plane takes without agents.
 */
const LARGEST = 10_000;
const LEAST_SECONDS = 5;
/** With fewer agents, the memory that the process itself takes once it works weighs more than theirs. */
const FEWEST_FOR_MEMORY = 3000;
const BARS = {
  readySeconds: 30,
  cpuMs: 1,
  otherSizes: 1.15,
  getP99Ms: 250,
  steadyShare: 0.25,
  residentBytes: 25_000,
  beside: 1.1,
  stopSeconds: 20,
} as const;

/** Some sites have a second router. */
const ROUTERS_PER_AGENT = 2;
const QUEUED_JOBS = 30_000;
/** Each agent reports health and devices within a minute of its start; then it is steady. */
const SETTLE_MS = 65_000;
const STEADY_MS = 60_000;
/** The control plane before the first agent. */
const IDLE_MS = 10_000;

interface Measured {
  bareMs: number;
  first: Connected;
  again: Connected;
  idle: number;
  steady: number;
  residentBytes: number;
  stopMs: number;
}

/** Many agents at `serve` as a process of its own, each agent with its own connection: connecting, steady, and what else goes on meanwhile. */
export async function fleetRows({ agents, databases }: Choice): Promise<Row[]> {
  const rows: Row[] = [];
  for (const database of databases) {
    const costs: number[] = [];
    for (const count of agents) {
      process.stderr.write(`  ${count} agents, ${database} …\n`);
      const quiet = await withDatabase(database, (folder, url) => measureFleet({ folder, url, count, queued: 0 }));
      const busy = await withDatabase(database, (folder, url) => measureFleet({ folder, url, count, queued: QUEUED_JOBS }));
      costs.push(quiet.measured.again.cpuMs);
      rows.push(...rowsOf(`${count} agents, ${database}`, count, quiet.measured), ...quiet.rows);
      rows.push(...besideRows(`${count} agents, ${database}`, quiet.measured, busy.measured));
    }
    if (costs.length > 1) rows.push(sizeRow(database, agents, costs));
  }
  return rows;
}

/** @throws Error when PostgreSQL is not installed */
async function withDatabase<T>(database: 'sqlite' | 'postgres', work: (folder: string, url: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-bench-fleet-'));
  const bin = database === 'postgres' ? findPostgres() : '';
  if (bin === undefined) throw new Error("Debian's postgresql is not installed");
  const postgres = bin === '' ? undefined : await startPostgres(bin);
  try {
    return await work(folder, postgres ? postgresUrl(postgres.socketFolder, 'postgres') : `sqlite:${folder}/signalbox.db`);
  } finally {
    await postgres?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Place {
  folder: string;
  url: string;
  count: number;
  /** Jobs that wait for other agents. */
  queued: number;
}

async function measureFleet({ folder, url, count, queued }: Place): Promise<{ measured: Measured; rows: Row[] }> {
  const { apiKey, credentials } = await fillDatabase(url, count);
  if (queued > 0) await addQueuedJobs(url, queued);
  const bareMs = await measureBare(credentials);
  const served = await Served.start({ folder, databaseUrl: url });
  let fleet: FleetProcess | undefined;
  try {
    const api = { url: served.url, apiKey };
    const size = { agents: count, routers: count * ROUTERS_PER_AGENT };
    const idle = await measureSteady(served, IDLE_MS);
    const first = await measureConnecting(served, api, {
      ...size,
      start: async () => (fleet = await FleetProcess.start(served.url, credentials, ROUTERS_PER_AGENT)),
    });
    await pause(SETTLE_MS);
    const steady = await measureSteady(served, STEADY_MS);
    const stopMs = await served.end();
    // Their pauses between dials are none of the control plane's business.
    await fleet?.ask('rest');
    await served.again();
    const again = await measureConnecting(served, api, {
      ...size,
      start: async () => {
        await fleet!.ask('dial');
        return fleet!;
      },
    });
    // Last: what forwards and jobs leave behind is no cost of agents that come back after a restart.
    const rows = queued > 0 ? [] : await workRows(served, api, `${count} agents, ${url.slice(0, 6) === 'sqlite' ? 'sqlite' : 'postgres'}`);
    const residentBytes = (steady.residentBytes - idle.residentBytes) / count;
    return { measured: { bareMs, first, again, idle: idle.share, steady: steady.share, residentBytes, stopMs }, rows };
  } finally {
    await fleet?.stop();
    await served.kill();
  }
}

function rowsOf(title: string, count: number, { bareMs, first, again, idle, steady, residentBytes, stopMs }: Measured): Row[] {
  const share = count / LARGEST;
  const readySeconds = Math.max(LEAST_SECONDS, BARS.readySeconds * share);
  const stopSeconds = Math.max(LEAST_SECONDS, BARS.stopSeconds * share);
  const steadyShare = idle + (BARS.steadyShare - idle) * share;
  const connecting: [string, Connected][] = [
    ['first connect', first],
    ['after a restart', again],
  ];
  return [
    ...connecting.flatMap(([when, { seconds, cpuMs, visit }]): Row[] => [
      {
        name: `${title}: ${when}, all ready, to ${readySeconds} s`,
        ratio: seconds / readySeconds,
        bar: { at: 'most', value: 1 },
        detail: `${seconds.toFixed(1)} s`,
      },
      {
        name: `${title}: ${when}, CPU of an agent over the bare server's, to ${BARS.cpuMs} ms`,
        ratio: (cpuMs - bareMs) / BARS.cpuMs,
        bar: { at: 'most', value: 1 },
        detail: `control plane ${cpuMs.toFixed(2)} ms, bare server ${bareMs.toFixed(2)} ms`,
      },
      {
        name: `${title}: ${when}, p99 of another user's GET, to ${BARS.getP99Ms} ms`,
        ratio: visit.errors > 0 ? Number.POSITIVE_INFINITY : visit.p99Ms / BARS.getP99Ms,
        bar: { at: 'most', value: 1 },
        detail: `${Math.round(visit.p99Ms)} ms of ${visit.count}, ${visit.errors} errors`,
      },
    ]),
    {
      name: `${title}, steady: CPU, to ${(steadyShare * 100).toFixed(1)} % of a core`,
      ratio: steady / steadyShare,
      bar: { at: 'most', value: 1 },
      detail: `${(steady * 100).toFixed(1)} % of a core, ${(idle * 100).toFixed(1)} % without agents`,
    },
    {
      name: `${title}, steady: resident memory of an agent, to ${BARS.residentBytes / 1000} kB`,
      ratio: residentBytes / BARS.residentBytes,
      bar: count < FEWEST_FOR_MEMORY ? undefined : { at: 'most', value: 1 },
      detail: `${(residentBytes / 1000).toFixed(1)} kB`,
    },
    {
      name: `${title}: end at SIGTERM, to ${stopSeconds} s`,
      ratio: stopMs / 1000 / stopSeconds,
      bar: { at: 'most', value: 1 },
      detail: Number.isFinite(stopMs) ? `${(stopMs / 1000).toFixed(1)} s` : 'it did not end by itself',
    },
  ];
}

function besideRows(title: string, quiet: Measured, busy: Measured): Row[] {
  const bar = { at: 'most' as const, value: BARS.beside };
  return [
    {
      name: `${title}: CPU of an agent after a restart beside ${QUEUED_JOBS} queued jobs, to without`,
      ratio: busy.again.cpuMs / quiet.again.cpuMs,
      bar,
      detail: `${busy.again.cpuMs.toFixed(2)} ms, ${quiet.again.cpuMs.toFixed(2)} ms`,
    },
    {
      name: `${title}: CPU steady beside ${QUEUED_JOBS} queued jobs, to without`,
      ratio: busy.steady / quiet.steady,
      bar,
      detail: `${(busy.steady * 100).toFixed(1)} %, ${(quiet.steady * 100).toFixed(1)} %`,
    },
  ];
}

function sizeRow(database: string, agents: readonly number[], costs: readonly number[]): Row {
  return {
    name: `${database}: CPU of an agent after a restart, the largest fleet to the smallest`,
    ratio: costs.at(-1)! / costs[0]!,
    bar: { at: 'most', value: BARS.otherSizes },
    detail: agents.map((count, index) => `${count}: ${costs[index]!.toFixed(2)} ms`).join(', '),
  };
}
