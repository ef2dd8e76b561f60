import { setTimeout as pause } from 'node:timers/promises';
import { RESTS_AFTER_MS } from '../../../server/work/forwards/channel-pool.ts';
import { FORWARD_LIMITS } from '../../../server/work/forwards/limits.ts';
import { HttpLoad } from '../http-load.ts';
import type { Row } from '../report.ts';
import type { Api } from './measure.ts';
import type { Served } from './served.ts';
import { visitWhile } from './visitor.ts';

const JOBS_A_SECOND = 2000;
const CALLERS = 64;
const JOBS_MS = 5000;
const CAMPAIGN_CPU_MS = 2;
const GET_P99_MS = 250;
const MOST_AT_ONCE = 500;
const CAMPAIGN_WITHIN_MS = 600_000;
const FORWARDS = 1000;
const FORWARD_BYTES = 40_000;
/** A forward that nobody uses closes its spare channels by then, and V8 has given back what they and their opening took. */
const RESTS_WITHIN_MS = RESTS_AFTER_MS + 2 * FORWARD_LIMITS.idlePeriodMs;
/** Routers of one page of the list, its largest. */
const PAGE = 500;

/** What the control plane does for its users while the whole fleet is connected. */
export async function workRows(served: Served, api: Api, title: string): Promise<Row[]> {
  const routers = await routerIds(api);
  return [
    ...(await jobRow(api, title, routers)),
    ...(await campaignRows(served, api, title, routers)),
    ...(await forwardRow(served, api, title, routers)),
  ];
}

async function call<T>({ url, apiKey }: Api, method: string, route: string, body?: object): Promise<T> {
  const answer = await fetch(url + route, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!answer.ok) throw new Error(`${method} ${route}: ${answer.status} ${(await answer.text()).slice(0, 300)}`);
  return (await answer.json()) as T;
}

async function routerIds(api: Api): Promise<string[]> {
  const ids: string[] = [];
  let next: string | undefined = `/api/routers?limit=${PAGE}`;
  while (next !== undefined) {
    const answer: Response = await fetch(new URL(next, api.url), { headers: { authorization: `Bearer ${api.apiKey}` } });
    const { data } = (await answer.json()) as { data: { id: string }[] };
    for (const { id } of data) ids.push(id);
    next = /<([^>]+)>; *rel="?next"?/.exec(answer.headers.get('link') ?? '')?.[1];
  }
  return ids;
}

/** Accepted jobs of one agent's router: the others show whether connected agents are in the way. */
async function jobRow(api: Api, title: string, routers: readonly string[]): Promise<Row[]> {
  const http = new HttpLoad(api, CALLERS);
  const body = JSON.stringify({
    description: 'bench',
    script: ':put 1',
    make_backup: false,
    express_execute: false,
    needs_acknowledgement: true,
  });
  const begun = performance.now();
  let accepted = 0;
  const caller = async (index: number): Promise<void> => {
    for (let turn = index; performance.now() - begun < JOBS_MS; turn += CALLERS) {
      const status = await http.post(`/api/asynchronous/${routers[turn % routers.length]}`, body);
      if (status !== 200) throw new Error(`a job was answered with ${status}`);
      accepted += 1;
    }
  };
  try {
    await Promise.all(Array.from({ length: CALLERS }, (_, index) => caller(index)));
  } finally {
    http.close();
  }
  const rate = accepted / ((performance.now() - begun) / 1000);
  return [
    {
      name: `${title}: jobs accepted a second, durable, with all agents running them, to ${JOBS_A_SECOND}`,
      ratio: rate / JOBS_A_SECOND,
      bar: { at: 'least', value: 1 },
      detail: `${Math.round(rate)} a second with ${CALLERS} callers`,
    },
  ];
}

/** One script on one router of each agent. */
async function campaignRows(served: Served, api: Api, title: string, routers: readonly string[]): Promise<Row[]> {
  await noJobs(api);
  const targets = routers.slice(0, Math.ceil(routers.length / 2));
  const before = await served.usage();
  const visit = await visitWhile(api, async () => {
    const { data } = await call<{ data: { id: string } }>(api, 'POST', '/api/campaigns', {
      router_ids: targets,
      description: 'bench',
      script: ':put 1',
      make_backup: false,
      express_execute: true,
      needs_acknowledgement: true,
      most_at_once: MOST_AT_ONCE,
    });
    const giveUpAt = performance.now() + CAMPAIGN_WITHIN_MS;
    while ((await call<{ data: { finished_at: string | null } }>(api, 'GET', `/api/campaigns/${data.id}`)).data.finished_at === null) {
      if (performance.now() > giveUpAt) throw new Error('the campaign does not end');
      await pause(1000);
    }
  });
  const { cpuSeconds } = await served.usage();
  const cpuMs = ((cpuSeconds - before.cpuSeconds) * 1000) / targets.length;
  return [
    {
      name: `${title}: campaign on ${targets.length} routers, CPU of a router, to ${CAMPAIGN_CPU_MS} ms`,
      ratio: cpuMs / CAMPAIGN_CPU_MS,
      bar: { at: 'most', value: 1 },
      detail: `${cpuMs.toFixed(2)} ms`,
    },
    {
      name: `${title}: campaign, p99 of another user's GET, to ${GET_P99_MS} ms`,
      ratio: visit.errors > 0 ? Number.POSITIVE_INFINITY : visit.p99Ms / GET_P99_MS,
      bar: { at: 'most', value: 1 },
      detail: `${Math.round(visit.p99Ms)} ms of ${visit.count}, ${visit.errors} errors`,
    },
  ];
}

/** Waits until the jobs of before are done. */
async function noJobs(api: Api): Promise<void> {
  const giveUpAt = performance.now() + CAMPAIGN_WITHIN_MS;
  for (;;) {
    const { data } = await call<{ data: { jobs_24h: { pending: number; running: number } } }>(api, 'GET', '/api/overview');
    if (data.jobs_24h.pending + data.jobs_24h.running === 0) return;
    if (performance.now() > giveUpAt) throw new Error('the jobs do not end');
    await pause(1000);
  }
}

async function forwardRow(served: Served, api: Api, title: string, routers: readonly string[]): Promise<Row[]> {
  // As idle as afterwards: what the work before has left behind would count for less than nothing.
  await pause(RESTS_WITHIN_MS);
  const before = await served.usage();
  const count = Math.min(FORWARDS, routers.length);
  for (const routerId of routers.slice(0, count))
    await call(api, 'POST', `/api/routers/${routerId}/transient-forwarding`, {
      expire_after_minutes: 60,
      dst_address: '192.168.88.10',
      dst_port: 22,
      allow_from: '127.0.0.1',
    });
  await pause(RESTS_WITHIN_MS);
  const after = await served.usage();
  const bytes = (after.residentBytes - before.residentBytes) / count;
  return [
    {
      name: `${title}: resident memory of ${count} idle forwards, each, to ${FORWARD_BYTES / 1000} kB`,
      ratio: bytes / FORWARD_BYTES,
      bar: { at: 'most', value: 1 },
      detail: `${(bytes / 1000).toFixed(1)} kB`,
    },
  ];
}
