import type { RouterStateName } from '../states/types.ts';

/** Routers that do not answer and have something in common, which is likely why. */
export interface CommonCause {
  kind: 'agent' | 'site' | 'address' | 'version';
  /** Id of the agent or the site, the address from which the agents come, or the version. */
  value: string;
  /** Of the agent or the site. */
  name: string | null;
  /** Routers that do not answer. */
  away: number;
  /** Routers that share the value, those that answer included. */
  of: number;
  /** Since when the first of them does not answer, milliseconds. */
  since: number;
}

/** What is counted; `isExact` is false where nobody counted to the end. */
export interface Overview {
  routers: Record<RouterStateName, number>;
  agents: { connected: number; away: number; unseen: number };
  openFaults: Record<string, number>;
  /** Jobs made in the last 24 hours, by status. */
  jobs: { counts: Record<string, number>; isExact: boolean };
  openForwards: number;
  runningCampaigns: number;
  causes: CommonCause[];
}
