import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { buildAgent, BundledAgent } from './bundled-agent.ts';
import { CountingRelay } from './counting-relay.ts';
import type { Traffic } from './counting-relay.ts';
import type { ServerPart } from './parts/server.ts';
import type { SiteRouters, SiteRoutersOptions } from './parts/site-routers.ts';
import { BenchProcess } from './processes.ts';
import type { Usage } from './processes.ts';
import type { Row } from './report.ts';

const SITE: SiteRoutersOptions = { routers: 50, devices: 5000, devicesElsewhere: 20, changesPerMinute: 50 };
/** Every router is read once a minute, with 10 % jitter. */
const MINUTES = 2;
/** Deltas with so few changes must cost much less than complete lists. */
const MOST_OF_FULL_LISTS = 0.15;
/** Fraction of one core, for both together. */
const MOST_CPU = 0.1;
const SYNC_LIMIT_MS = 120_000;

interface Bench {
  server: BenchProcess;
  agent: BundledAgent;
  relay: CountingRelay;
}

interface Sample {
  traffic: Traffic;
  agent: Usage;
  server: Usage;
}

/** What an agent with 50 routers, one of them with a site of 5,000 devices, costs at first and then every minute. */
export async function siteRows(): Promise<Row[]> {
  await buildAgent();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-bench-site-'));
  const server = await BenchProcess.start<ServerPart>('server', { folder });
  const routers = await BenchProcess.start<SiteRouters>('site-routers', SITE);
  const relay = await CountingRelay.start(Number(new URL(server.result.url).port));
  const { url, enrolToken, apiKey } = server.result;
  const began = performance.now();
  const agent = await BundledAgent.start({
    folder,
    server: `http://127.0.0.1:${relay.port}`,
    enrolToken,
    apiPorts: routers.result.apiPorts,
  });
  try {
    const bench = { server: server.process, agent, relay };
    const nothing = { cpuSeconds: 0, residentBytes: 0 };
    const before = { traffic: { up: 0, down: 0 }, agent: nothing, server: await server.process.usage() };
    await allTold(url, apiKey, routers.result.lastDevices);
    const seconds = (performance.now() - began) / 1000;
    const synced = await sample(bench);
    await new Promise((resolve) => setTimeout(resolve, MINUTES * 60_000));
    return rowsOf(difference(before, synced), difference(synced, await sample(bench)), seconds);
  } finally {
    agent.stop();
    relay.close();
    await Promise.all([server, routers].map((part) => part.process.stop()));
    await rm(folder, { recursive: true, force: true });
  }
}

async function sample({ server, agent, relay }: Bench): Promise<Sample> {
  const [serverUsage, agentUsage] = await Promise.all([server.usage(), agent.usage()]);
  return { traffic: relay.traffic, agent: agentUsage, server: serverUsage };
}

/** CPU time between two samples; memory of the later one. */
function difference(from: Sample, to: Sample): Sample {
  const used = (a: Usage, b: Usage): Usage => ({ cpuSeconds: b.cpuSeconds - a.cpuSeconds, residentBytes: b.residentBytes });
  return {
    traffic: { up: to.traffic.up - from.traffic.up, down: to.traffic.down - from.traffic.down },
    agent: used(from.agent, to.agent),
    server: used(from.server, to.server),
  };
}

/** Waits until the control plane knows the last device of every router. */
async function allTold(url: string, apiKey: string, macs: readonly string[]): Promise<void> {
  const giveUpAt = performance.now() + SYNC_LIMIT_MS;
  const missing = new Set(macs);
  while (missing.size > 0) {
    if (performance.now() > giveUpAt) throw new Error(`${missing.size} routers have not told their devices`);
    for (const mac of missing) {
      const { status } = await fetch(`${url}/arp/devices/${mac}`, { headers: { authorization: `Bearer ${apiKey}` } });
      if (status === 200) missing.delete(mac);
      else break;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function rowsOf(first: Sample, steady: Sample, firstSeconds: number): Row[] {
  const perMinute = (value: number): number => value / MINUTES;
  const kilobytes = (bytes: number): string => `${(bytes / 1e3).toFixed(1)} kB`;
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
  const cpu = perMinute(steady.agent.cpuSeconds + steady.server.cpuSeconds);
  const title = `${SITE.routers} routers, ${SITE.devices} devices`;
  return [
    {
      name: `${title}: bytes a minute up the tunnel, to full lists`,
      ratio: perMinute(steady.traffic.up) / first.traffic.up,
      bar: { at: 'most', value: MOST_OF_FULL_LISTS },
      detail:
        `up ${kilobytes(perMinute(steady.traffic.up))}, down ${kilobytes(perMinute(steady.traffic.down))} with ${SITE.changesPerMinute} changes a minute; ` +
        `first sync, which is all lists once: up ${kilobytes(first.traffic.up)}, down ${kilobytes(first.traffic.down)} in ${firstSeconds.toFixed(1)} s`,
    },
    {
      name: `${title}: CPU of agent and control plane, to one core`,
      ratio: cpu / 60,
      bar: { at: 'most', value: MOST_CPU },
      detail:
        `a minute: agent ${perMinute(steady.agent.cpuSeconds).toFixed(2)} s, control plane ${perMinute(steady.server.cpuSeconds).toFixed(2)} s; ` +
        `first sync: ${first.agent.cpuSeconds.toFixed(2)} s with the agent's start, ${first.server.cpuSeconds.toFixed(2)} s`,
    },
    {
      name: `${title}: agent, resident, to 80 MB`,
      ratio: steady.agent.residentBytes / 80e6,
      bar: undefined,
      detail: `agent ${megabytes(steady.agent.residentBytes)}, control plane ${megabytes(steady.server.residentBytes)}`,
    },
  ];
}
