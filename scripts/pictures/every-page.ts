import { consoleRoutes } from '../../test/harness/console-routes.ts';
import type { Administrator } from '../fleet/enrol.ts';

/** One page with records of the demonstration in its address. */
export interface PageOfDemo {
  /** Of its files: `NAME-light.png`. */
  name: string;
  address: string;
}

interface Pages {
  pages: PageOfDemo[];
  /** Routes of the application that the demonstration has no record for. */
  without: string[];
}

/** A value for each parameter of the addresses. */
type Values = Record<string, string | undefined>;

/** Every page of the application that the demonstration has a record for. A page that is added to the application is in here. */
export async function everyPage(api: Administrator): Promise<Pages> {
  const values = await recordsOf(api);
  const found: Pages = { pages: [], without: [] };
  for (const route of consoleRoutes()) {
    const address = addressOf(route, values);
    if (address === undefined) found.without.push(route);
    else found.pages.push({ name: nameOf(route), address });
  }
  const { routerId } = values;
  if (routerId !== undefined) found.pages.push({ name: 'run-router', address: `/run?routers=${routerId}` });
  return found;
}

function addressOf(route: string, values: Values): string | undefined {
  // A forward and a job are on pages of their own routers.
  const router = route.startsWith('/jobs/') ? 'jobRouterId' : route.startsWith('/forwards/') ? 'forwardRouterId' : 'routerId';
  const own: Values = { ...values, routerId: values[route.includes('$pair') ? 'pairRouterId' : router] };
  const names = [...route.matchAll(/\$(\w+)/g)].map(([, name]) => name!);
  if (names.some((name) => own[name] === undefined)) return undefined;
  return route.replaceAll(/\$(\w+)/g, (_all, name: string) => own[name]!);
}

/** `/routers/$routerId/tunnel` is `routers-router-tunnel`. */
function nameOf(route: string): string {
  const words = route.split('/').filter((word) => word !== '');
  return words.map((word) => word.replace(/^\$/, '').replace(/Id$/, '')).join('-') || 'now';
}

async function recordsOf(api: Administrator): Promise<Values> {
  const list = async <T = { id: string }>(route: string): Promise<T[]> => (await api.call<{ data: T[] }>('GET', route)).data;
  const [job] = await list<{ id: string; router_id: string }>('/api/jobs?limit=500');
  const [forward] = await list<{ id: string; router_id: string }>('/api/transient-forwarding');
  const [message] = await list<{ thread_id: string }>('/api/notifications');
  const stored = (await list<Backup>('/api/backups?limit=500')).filter(({ state }) => state === 'stored');
  const pair = pairOf(stored);
  const routers = await list<{ id: string; agent_id: string; state: string }>('/api/routers?limit=5000&fields=id,agent_id,state');
  // One that people have worked with shows most.
  const router = routers.find(({ id }) => id === (pair?.[0].router_id ?? job?.router_id)) ?? routers[0];
  return {
    routerId: router?.id,
    agentId: router?.agent_id ?? (await list('/api/agents'))[0]?.id,
    siteId: (await list('/api/sites'))[0]?.id,
    jobId: job?.id,
    jobRouterId: job?.router_id,
    campaignId: (await list('/api/campaigns'))[0]?.id,
    forwardId: forward?.id,
    forwardRouterId: forward?.router_id,
    terminalId: (await list('/api/terminals'))[0]?.id,
    groupId: (await list('/api/groups'))[0]?.id,
    threadId: message?.thread_id,
    pair: pair?.map(({ id }) => id).join('..'),
    pairRouterId: pair?.[0].router_id,
  };
}

interface Backup {
  id: string;
  router_id: string;
  state: string;
}

/** Two of one router, the older one first. */
function pairOf(backups: readonly Backup[]): [Backup, Backup] | undefined {
  for (const [, [newer, older]] of Map.groupBy(backups, ({ router_id: id }) => id)) if (newer && older) return [older, newer];
  return undefined;
}
