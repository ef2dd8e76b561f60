import type { Signalbox } from '../../client.ts';
import type { Campaign, Fault, ListedJob, Overview, Router, TransientForward } from '../../generated.ts';
import { ROUTERS_PAGE } from '../names.ts';

/** What the fleet looks like at one moment. */
export interface Fleet {
  /** The server's time, milliseconds since 1970. */
  at: number;
  overview: Overview;
  /** Routers in `not_answering` and `agent_away`, the latest change first. */
  down: DownRouter[];
  /** Open ones, the most severe first, then the latest. */
  faults: Fault[];
  runningJobs: ListedJob[];
  openForwards: TransientForward[];
  runningCampaigns: Campaign[];
  /** Router id to identity, of the routers that the lists above name. */
  names: ReadonlyMap<string, string>;
}

export type DownRouter = Pick<Router, (typeof FIELDS)[number]>;

const FIELDS = ['id', 'identity', 'state', 'state_since', 'state_reason', 'agent_name'] as const satisfies readonly (keyof Router)[];

/** Records of one list; more are counted in the overview. */
const PAGE = 1000;

const SEVERITIES = ['critical', 'warning', 'info'];

/**
 * Three requests for a quiet fleet, and one more each when there are open faults, open forwards or running campaigns. The list of
 * routers takes one request per 5,000: it has the names for everything else.
 */
export async function readFleet(signalbox: Signalbox, signal: AbortSignal): Promise<Fleet> {
  const options = { signal };
  const { result, at = Date.now() } = await signalbox.read('getOverview', {}, options);
  const overview = result.data;
  const { critical, warning, info } = overview.open_faults;
  const jobs = await signalbox.call('listTeamJobs', { query: { status: ['running'], limit: PAGE } }, options);
  const hasFaults = critical + warning + info > 0;
  const faults = hasFaults ? (await signalbox.call('listTeamFaults', { query: { status: 'open', limit: PAGE } }, options)).data : [];
  const hasForwards = overview.open_forwards > 0;
  const forwards = hasForwards ? (await signalbox.call('listTeamForwards', { query: { status: 'open', limit: PAGE } }, options)).data : [];
  const campaigns = overview.running_campaigns > 0 ? await runningCampaigns(signalbox, signal) : [];
  const needsNames = faults.length + forwards.length + jobs.data.length > 0;
  const routers: DownRouter[] = await signalbox.all(
    'listRouters',
    { query: { limit: ROUTERS_PAGE, fields: [...FIELDS], ...(needsNames ? {} : { state: ['not_answering', 'agent_away'] }) } },
    options,
  );
  return {
    at,
    overview,
    down: routers.filter(({ state }) => state === 'not_answering' || state === 'agent_away').toSorted(latestFirst),
    faults: faults.toSorted((one, other) => SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity)),
    runningJobs: jobs.data,
    openForwards: forwards,
    runningCampaigns: campaigns,
    names: new Map(routers.map(({ id, identity }) => [id, identity])),
  };
}

async function runningCampaigns(signalbox: Signalbox, signal: AbortSignal): Promise<Campaign[]> {
  const { data } = await signalbox.call('listCampaigns', { query: { limit: PAGE } }, { signal });
  return data.filter(({ state }) => state === 'running');
}

function latestFirst(one: DownRouter, other: DownRouter): number {
  return (other.state_since ?? '').localeCompare(one.state_since ?? '');
}
