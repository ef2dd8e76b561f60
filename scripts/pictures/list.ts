import type { Administrator } from '../fleet/enrol.ts';

/** One picture of the web application. */
export interface Picture {
  /** Of its file: `console-NAME-light.png`. */
  name: string;
  /** Below it in README. */
  title: string;
  address: string;
}

interface Job {
  id: string;
  router_id: string;
  reason: string | null;
}

const first = <T>(rows: readonly T[], what: string, fits: (row: T) => boolean): T => {
  const found = rows.find(fits);
  if (found === undefined) throw new Error(`the demo has no ${what}`);
  return found;
};

/** Pages of the demonstration with a large fleet, with the records that show most. @throws Error that names what the demo does not have */
export async function pictureList(api: Administrator): Promise<Picture[]> {
  const list = async <T>(route: string): Promise<T[]> => (await api.call<{ data: T[] }>('GET', route)).data;
  const routers = await list<Router>('/api/routers?limit=5000&state=answering&fields=id,agent_id');
  const agents = await list<{ id: string; sessions_24h: number }>('/api/agents?limit=500');
  const faults = await list<{ rid: string }>('/api/faults?limit=500');
  const story = mostEventful(routers, new Map(agents.map(({ id, sessions_24h: count }) => [id, count])), faults);
  const jobs = await list<Job>('/api/jobs?limit=500');
  const guarded = first(jobs, 'job that was rolled back', ({ reason }) => reason === 'rolled_back');
  const campaigns = await list<{ id: string; state: string }>('/api/campaigns');
  const [stopped, running] = ['stopped', 'running'].map((state) => first(campaigns, `${state} campaign`, (one) => one.state === state));
  const backups = await list<{ id: string; router_id: string; origin: string; state: string }>('/api/backups?limit=500');
  const stored = backups.filter(({ state }) => state === 'stored');
  // The job's backup is from before its script, the one that was asked for from after it.
  const asked = first(stored, 'router with two backups', ({ origin, router_id: id }) => {
    return origin === 'request' && stored.some((one) => one.origin === 'job' && one.router_id === id);
  });
  const before = first(stored, 'backup of a job', ({ origin, router_id: id }) => origin === 'job' && id === asked.router_id);
  const group = first(await list<{ id: string }>('/api/groups'), 'notification group', () => true);
  return [
    { name: 'now', title: 'The fleet now: what answers, what does not, and what it has in common', address: '/' },
    { name: 'routers', title: 'Routers by filter, with their last 24 hours', address: '/routers?q=-state%3Aanswering' },
    { name: 'router', title: 'One router: agent and router as two lines, with the reasons', address: `/routers/${story.id}` },
    { name: 'tunnel', title: 'The tunnel of its agent: sessions and how they ended', address: `/routers/${story.id}/tunnel` },
    { name: 'run', title: 'A command for one router', address: `/run?routers=${story.id}` },
    { name: 'jobs', title: 'Jobs of the team', address: '/jobs' },
    { name: 'job', title: 'A script that cut the agent off: the router undid it', address: `/jobs/${guarded.router_id}/${guarded.id}` },
    { name: 'campaign', title: 'A campaign that its canary has stopped', address: `/campaigns/${stopped!.id}` },
    { name: 'campaign-running', title: 'A campaign under way', address: `/campaigns/${running!.id}` },
    {
      name: 'backups',
      title: 'What has changed between two backups',
      address: `/routers/${asked.router_id}/backups/${before.id}..${asked.id}`,
    },
    { name: 'forwards', title: 'Open doors into networks, with their clients and their end', address: '/forwards' },
    { name: 'faults', title: 'Open faults', address: '/faults' },
    { name: 'group', title: 'Who is told of what, where and when, in a sentence', address: `/notifications/groups/${group.id}` },
    { name: 'threads', title: 'What people were told of: one thread for each cause', address: '/notifications/threads?state=all' },
    { name: 'map', title: 'Sites on the map', address: '/map' },
    { name: 'keys', title: 'API keys', address: '/settings/keys' },
  ];
}

interface Router {
  id: string;
  agent_id: string;
}

/** The router whose agent came and went most often today, and of its routers the one with most faults. */
function mostEventful(routers: readonly Router[], sessions: ReadonlyMap<string, number>, faults: readonly { rid: string }[]): Router {
  const often = Map.groupBy(faults, ({ rid }) => rid);
  const eventsOf = ({ id, agent_id: agentId }: Router): number => (sessions.get(agentId) ?? 0) * 1000 + (often.get(id)?.length ?? 0);
  return first(
    routers.toSorted((a, b) => eventsOf(b) - eventsOf(a)),
    'router that answers',
    () => true,
  );
}
