import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { migrate } from '../../server/platform/storage/migrate.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { seedDevices, seedJobs } from '../../test/harness/many-records.ts';
import { seedManyRouters, seedPresence } from '../../test/harness/many-routers.ts';
import type { ManyRouters } from '../../test/harness/many-routers.ts';
import { settle } from '../../test/harness/plans.ts';
import { findPostgres, postgresUrl, startPostgres } from '../../test/harness/postgres-server.ts';
import type { Field } from './field.ts';
import type { ListsServerPart } from './parts/lists-server.ts';
import { BenchProcess } from './processes.ts';
import type { Row } from './report.ts';
import { quietLog } from './quiet-log.ts';
import { quantile } from './statistics.ts';

const ROUTERS = 10_000;
const SNAPSHOT = 5000;
const DEVICES = 200_000;
const JOBS = 100_000;
const LISTENERS = 50;
/** A key may have five event streams. */
const STREAMS_OF_KEY = 5;
const CHANGES_PER_SECOND = 500;
/** Answers of each question. */
const SAMPLES = 40;
/** docs/benchmarks.md: a page of 100 anywhere in the lists, and a search, milliseconds at the 99th percentile. */
const PAGE_P99_MS = 25;
const SEARCH_P99_MS = 50;
/** What the web application begins with, compressed. */
const SNAPSHOT_BYTES = 250_000;
const SNAPSHOT_P95_MS = 150;

/** The lists of a large team over HTTP, one caller at a time, and the event stream with many listeners. */
export async function listRows({ ms }: Field): Promise<Row[]> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-bench-lists-'));
  try {
    const place = { folder, databaseUrl: `sqlite:${folder}/signalbox.db` };
    const team = await fill(place);
    return [...(await askedRows(place, team)), ...(await eventRows(place, team.teamId, ms))];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The same questions to a control plane on PostgreSQL. @throws Error when it is not installed */
export async function listRowsOnPostgres(): Promise<Row[]> {
  const bin = findPostgres();
  if (bin === undefined) throw new Error("Debian's postgresql is not installed");
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-bench-lists-'));
  const server = await startPostgres(bin);
  try {
    const place = { folder, databaseUrl: postgresUrl(server.socketFolder, 'postgres') };
    const rows = await askedRows(place, await fill(place));
    return rows.map((row) => ({ ...row, name: `PostgreSQL: ${row.name}` }));
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Where a filled control plane has its files and its database. */
interface Place {
  folder: string;
  databaseUrl: string;
}

async function askedRows(place: Place, team: ManyRouters): Promise<Row[]> {
  const options = { ...place, teamId: team.teamId, keys: 1, changesPerSecond: 0 };
  const lists = await BenchProcess.start<ListsServerPart>('lists-server', options);
  try {
    const { url, apiKeys } = lists.result;
    const ask = (route: string, encoding = 'identity') => get(url, apiKeys[0]!, route, encoding);
    return [...(await snapshotRows(ask)), ...(await queryRows(ask, team))];
  } finally {
    await lists.process.stop();
  }
}

async function fill({ databaseUrl }: Place): Promise<ManyRouters> {
  const storage = await openStorage(databaseUrl, { log: quietLog });
  try {
    await migrate(storage);
    const start = Date.now() - JOBS;
    const team = await seedManyRouters(storage, ROUTERS, start);
    // No agent is there, so nearly all routers are away: the most work for whoever looks for common causes.
    await seedPresence(storage, team, start);
    await seedDevices(storage, team, DEVICES, start);
    await seedJobs(storage, team, JOBS, start);
    await settle(storage);
    return team;
  } finally {
    await storage.close();
  }
}

interface Answer {
  bytes: number;
  ms: number;
}

type Ask = (route: string, encoding?: string) => Promise<Answer>;

/** As many bytes as came over the network. */
function get(url: string, apiKey: string, route: string, encoding: string): Promise<Answer> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${apiKey}`, 'accept-encoding': encoding };
    http
      .get(new URL(route, url), { headers }, (answer) => {
        let bytes = 0;
        answer.on('data', (chunk: Buffer) => (bytes += chunk.length));
        answer.once('error', reject);
        answer.once('end', () => {
          if (answer.statusCode === 200) resolve({ bytes, ms: performance.now() - startedAt });
          else reject(new Error(`${route} was answered with ${answer.statusCode}`));
        });
      })
      .once('error', reject);
  });
}

async function sample(ask: () => Promise<Answer>): Promise<{ bytes: number; p50: number; p95: number; p99: number }> {
  // The first answers of a process are compiled while they are made.
  for (let turn = 0; turn < 5; turn += 1) await ask();
  const answers: Answer[] = [];
  for (let turn = 0; turn < SAMPLES; turn += 1) answers.push(await ask());
  const times = answers.map(({ ms }) => ms);
  return { bytes: answers[0]!.bytes, p50: quantile(times, 0.5), p95: quantile(times, 0.95), p99: quantile(times, 0.99) };
}

const inMs = (ms: number): string => `${ms.toFixed(1)} ms`;

/** The web application asks for br. */
async function snapshotRows(ask: Ask): Promise<Row[]> {
  const route = `/api/routers?limit=${SNAPSHOT}`;
  const plain = await sample(() => ask(route));
  const rows: Row[] = [];
  for (const encoding of ['br', 'gzip']) {
    const packed = await sample(() => ask(route, encoding));
    rows.push(
      {
        name: `snapshot of ${SNAPSHOT} routers, ${encoding}, to ${SNAPSHOT_BYTES / 1000} kB`,
        ratio: packed.bytes / SNAPSHOT_BYTES,
        bar: { at: 'most', value: 1 },
        detail: `${packed.bytes} bytes, plain ${plain.bytes}`,
      },
      {
        name: `snapshot of ${SNAPSHOT} routers, ${encoding}, p95 to ${SNAPSHOT_P95_MS} ms`,
        ratio: packed.p95 / SNAPSHOT_P95_MS,
        bar: { at: 'most', value: 1 },
        detail: `p50 ${inMs(packed.p50)}, p95 ${inMs(packed.p95)}; plain ${inMs(plain.p50)}, ${inMs(plain.p95)}`,
      },
    );
  }
  return rows;
}

async function queryRows(ask: Ask, { sites, agents, routers }: ManyRouters): Promise<Row[]> {
  const queries: [string, string, number][] = [
    ['routers by name', '/api/routers?limit=100&sort=identity', PAGE_P99_MS],
    ['routers of a site', `/api/routers?limit=100&site_id=${sites[3]}`, PAGE_P99_MS],
    ['routers of an agent', `/api/routers?limit=100&agent_id=${agents[3]}`, PAGE_P99_MS],
    ['routers below a version', '/api/routers?limit=100&version=<7.15&sort=version', PAGE_P99_MS],
    ['routers of a model', '/api/routers?limit=100&model=RB4011iGS%2B', PAGE_P99_MS],
    ['routers with a text', '/api/routers?limit=100&q=gw-77', PAGE_P99_MS],
    ['routers in a state, by its age', '/api/routers?limit=100&state=agent_away&sort=-state_since', PAGE_P99_MS],
    ['routers in a state, newest first', '/api/routers?limit=100&state=agent_away', PAGE_P99_MS],
    ['routers in a rare state, by name', '/api/routers?limit=100&state=never_seen&sort=identity', PAGE_P99_MS],
    [
      'routers of a site in a state, by its age',
      `/api/routers?limit=100&state=agent_away&sort=state_since&site_id=${sites[3]}`,
      PAGE_P99_MS,
    ],
    ['routers, counted', '/api/routers?limit=100&total=true', PAGE_P99_MS],
    ['failed jobs', '/api/jobs?limit=100&status=failed', PAGE_P99_MS],
    ['jobs of a router', `/api/jobs?limit=100&router_id=${routers[5]}`, PAGE_P99_MS],
    ['the overview, nearly all routers away', '/api/overview', PAGE_P99_MS],
    ['a search of devices without a hit', '/arp/devices?limit=100&search=nosuchthing', SEARCH_P99_MS],
    ['a search of devices with many hits', '/arp/devices?limit=100&search=192.168', SEARCH_P99_MS],
    ['a search of everything', '/api/search?q=till', SEARCH_P99_MS],
    ['a search of everything for the beginning of most devices', '/api/search?q=192.168', SEARCH_P99_MS],
  ];
  const rows: Row[] = [];
  for (const [name, route, bar] of queries) {
    const { p50, p99 } = await sample(() => ask(route));
    rows.push({
      name: `${name}, p99 to ${bar} ms`,
      ratio: p99 / bar,
      bar: { at: 'most', value: 1 },
      detail: `p50 ${inMs(p50)}, p99 ${inMs(p99)}`,
    });
  }
  return rows;
}

/** How long the listeners are counted, at least. */
const LEAST_COUNTED_MS = 5000;

async function eventRows(place: Place, teamId: string, ms: number): Promise<Row[]> {
  const keys = LISTENERS / STREAMS_OF_KEY;
  const options = { ...place, teamId, keys, changesPerSecond: CHANGES_PER_SECOND };
  const server = await BenchProcess.start<ListsServerPart>('lists-server', options);
  try {
    const { url, apiKeys } = server.result;
    const listeners = apiKeys.flatMap((apiKey) => Array.from({ length: STREAMS_OF_KEY }, () => new Listener(url, apiKey)));
    await Promise.all(listeners.map((listener) => listener.opened));
    const before = { at: performance.now(), cpu: (await server.process.usage()).cpuSeconds };
    for (const listener of listeners) listener.reset();
    await new Promise((resolve) => setTimeout(resolve, Math.max(LEAST_COUNTED_MS, ms)));
    const seconds = (performance.now() - before.at) / 1000;
    const cpu = (await server.process.usage()).cpuSeconds - before.cpu;
    const delays = listeners.flatMap((listener) => listener.delays);
    for (const listener of listeners) listener.close();
    const delivered = delays.length / seconds;
    const wanted = LISTENERS * CHANGES_PER_SECOND;
    return [
      {
        name: `events to ${LISTENERS} listeners at ${CHANGES_PER_SECOND} changes a second, delivered`,
        ratio: delivered / wanted,
        bar: { at: 'least', value: 0.98 },
        detail:
          `${Math.round(delivered)} a second; after ${inMs(quantile(delays, 0.5))} p50, ${inMs(quantile(delays, 0.99))} p99; ` +
          `${Math.round((cpu / seconds) * 100)} % of one core`,
      },
    ];
  } finally {
    await server.process.stop();
  }
}

/** One reader of the event stream. */
class Listener {
  readonly opened: Promise<void>;
  /** Between an event's own time and its arrival, milliseconds. */
  delays: number[] = [];
  readonly #request: http.ClientRequest;

  constructor(url: string, apiKey: string) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.opened = promise;
    this.#request = http.get(new URL('/api/events', url), { headers: { authorization: `Bearer ${apiKey}` } }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`the event stream was answered with ${answer.statusCode}`));
      resolve();
      let text = '';
      answer.setEncoding('utf8');
      answer.on('error', () => undefined);
      answer.on('data', (chunk: string) => {
        const events = (text + chunk).split('\n\n');
        text = events.pop()!;
        const now = Date.now();
        for (const event of events) {
          const at = /"at":"([^"]+)"/.exec(event)?.[1];
          if (at !== undefined) this.delays.push(now - Date.parse(at));
        }
      });
    });
    this.#request.on('error', reject);
  }

  reset(): void {
    this.delays = [];
  }

  close(): void {
    this.#request.destroy();
  }
}
