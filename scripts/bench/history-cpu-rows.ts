import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HealthReadings } from '../../protocol/index.ts';
import { RouterHealth } from '../../server/fleet/health/service.ts';
import { LinkQuality } from '../../server/fleet/links/service.ts';
import { ServerRuns } from '../../server/fleet/sessions/runs.ts';
import { SessionsService } from '../../server/fleet/sessions/service.ts';
import { StatesService } from '../../server/fleet/states/service.ts';
import type { AgentConnection } from '../../server/platform/core/agent-gateway.ts';
import type { TunnelEnd, TunnelRecord } from '../../server/platform/core/tunnel-record.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { migrate } from '../../server/platform/storage/migrate.ts';
import { openStorage } from '../../server/platform/storage/open.ts';
import { ManualClock } from '../../test/harness/manual-clock.ts';
import { seedRouter } from '../../test/harness/seed.ts';
import type { SeededRouter } from '../../test/harness/seed.ts';
import { silentLog } from '../../test/harness/silent-log.ts';
import type { Row } from './report.ts';

const ROUTERS = 10_000;
/** Of time that passes: some steps of a quarter of an hour. */
const SECONDS = 1800;
const HEARTBEAT_S = 30;
const HEALTH_S = 60;
const PING_S = 22.5;
/** Of all heartbeats, those that say something new: each router goes away and comes back five times a day. */
const CHANGES_A_DAY = 10;
/** Each agent connects anew so often. */
const SESSIONS_A_DAY = 5;
const DAY_S = 86_400;
/** Of one core: what else the control plane has to do must not notice the history. */
const MOST_OF_A_CORE = 0.1;

const READINGS = {
  cpu_load: 7,
  free_memory: 600_000_000,
  total_memory: 1_000_000_000,
  free_hdd: 90_000_000,
  total_hdd: 128_000_000,
  voltage: 24.1,
  temperatures: [{ name: 'cpu', celsius: 38.5 }],
} as unknown as HealthReadings;

interface Site extends SeededRouter {
  connection: AgentConnection;
  tunnel: TunnelRecord & { end: TunnelEnd | undefined };
  isUp: boolean;
}

/**
 * What keeping the history costs with 10,000 routers that have an agent each: half an hour of heartbeats, health and pings, told at once by a
 * clock that the measurement moves. Messages are made beforehand; reading them from the network is not part of it.
 */
export async function historyCpuRows(): Promise<Row[]> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-bench-history-cpu-'));
  const storage = await openStorage(`sqlite:${folder}/history.db`, { log: silentLog });
  try {
    await migrate(storage);
    const clock = new ManualClock(Date.UTC(2031, 0, 1));
    const sites = await seedSites(storage, clock);
    const feed = await startFeed(storage, clock, sites);
    const before = process.cpuUsage();
    for (let second = 0; second < SECONDS; second += 1) await feed.pass(second);
    await feed.stop();
    const { user, system } = process.cpuUsage(before);
    const cpuSeconds = (user + system) / 1e6;
    return [
      {
        name: `CPU of the history of ${ROUTERS} routers and agents, to ${100 * MOST_OF_A_CORE} % of a core`,
        ratio: cpuSeconds / SECONDS / MOST_OF_A_CORE,
        bar: { at: 'most', value: 1 },
        detail: `${((100 * cpuSeconds) / SECONDS).toFixed(2)} % of a core: ${cpuSeconds.toFixed(1)} s for ${SECONDS / 60} minutes`,
      },
    ];
  } finally {
    await storage.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function seedSites(storage: Storage, clock: ManualClock): Promise<Site[]> {
  const { teamId } = await seedRouter(storage, { now: clock.now() });
  const sites: Site[] = [];
  for (let index = 0; index < ROUTERS; index += 1) {
    const place = await seedRouter(storage, { teamId, now: clock.now() });
    const address = `198.51.${100 + (index % 100)}.${index % 250}`;
    sites.push({
      ...place,
      connection: { agentId: place.agentId, teamId, epoch: 1, address, reset: false },
      tunnel: tunnelOf(place, address, clock),
      isUp: true,
    });
  }
  return sites;
}

function tunnelOf({ teamId, agentId }: SeededRouter, address: string, clock: ManualClock): Site['tunnel'] {
  const known = { agentId, teamId, address, openedAt: clock.now(), readyAt: clock.now(), epoch: 1, agentVersion: '0.1.0', reset: false };
  return { ...known, bytesIn: 12_345, bytesOut: 2345, end: undefined };
}

async function startFeed(storage: Storage, clock: ManualClock, sites: readonly Site[]) {
  const deps = { storage, clock, log: silentLog };
  const keepMs = 400 * DAY_S * 1000;
  const keep = { fineMs: 30 * DAY_S * 1000, hourlyMs: 366 * DAY_S * 1000 };
  const runs = new ServerRuns(deps);
  const sessions = new SessionsService({ ...deps, keepMs });
  const links = new LinkQuality({ ...deps, keep });
  const idOf = new Map(sites.map(({ agentId, routerId }) => [agentId, routerId]));
  const routers = { routerIdOf: (agentId: string) => idOf.get(agentId), lastHeartbeatOf: () => undefined };
  const states = new StatesService({ ...deps, routers, runs, offlineAfterMs: 90_000, keepMs });
  const health = new RouterHealth({ ...deps, routers, keep });
  sessions.pings.subscribe(({ agentId, roundTripMs }) => links.onPing(agentId, roundTripMs));
  await runs.start();
  sessions.start();
  await states.start();
  links.start();
  health.start();
  for (const { tunnel, connection } of sites) {
    sessions.onOpened(tunnel);
    sessions.onProgress(tunnel);
    states.onReady(connection);
  }
  /** Each site once in so many seconds, all of them spread over that time. */
  const due = (second: number, every: number): Site[] =>
    sites.slice(Math.floor(((second % every) / every) * sites.length), Math.floor((((second % every) + 1) / every) * sites.length));

  const pass = async (second: number): Promise<void> => {
    for (const site of due(second, HEARTBEAT_S)) beat(site);
    for (const { connection } of due(second, HEALTH_S))
      health.onHealth(connection, { type: 'health', router: 'router', readings: READINGS });
    for (const { tunnel } of due(second, PING_S)) sessions.onPing(tunnel, 35 + (second % 7));
    for (const site of due(second, DAY_S / SESSIONS_A_DAY)) reconnect(site);
    clock.advance(1000);
    // What is written in this second is written before the next one.
    await sleep(0);
    await Promise.all([states.history.stored(), sessions.stored()]);
  };
  const beat = (site: Site): void => {
    if (Math.random() < (CHANGES_A_DAY * HEARTBEAT_S) / DAY_S) site.isUp = !site.isUp;
    const report = { name: 'router', reachable: site.isUp, uptime_seconds: 86_400, reason: site.isUp ? null : 'no answer' };
    const routersOfAgent = [site.isUp ? report : { ...report, reason_code: 'timeout' as const }];
    states.onHeartbeat(site.connection, { type: 'heartbeat', routers: routersOfAgent });
  };
  const reconnect = (site: Site): void => {
    const end: TunnelEnd = { endedBy: 'network', at: clock.now(), lastHeardAt: clock.now() };
    site.tunnel.end = end;
    sessions.onEnded(site.tunnel);
    states.onGone(site.connection, end);
    site.tunnel = tunnelOf(site, site.connection.address, clock);
    sessions.onOpened(site.tunnel);
    sessions.onProgress(site.tunnel);
    states.onReady(site.connection);
  };
  const stop = async (): Promise<void> => {
    await Promise.all([health.stop(), links.stop()]);
    await states.stop();
    await sessions.stop();
    await runs.stop();
  };
  return { pass, stop };
}
