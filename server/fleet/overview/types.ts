import type { RouterStateName } from '../states/types.ts';

/** Routers that do not answer and share a property, which is a likely cause. */
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
  /** When the first of them stopped answering, milliseconds. */
  since: number;
}

/** Counts; `isExact` is false when counting stopped at its limit. */
export interface Overview {
  routers: Record<RouterStateName, number>;
  agents: { connected: number; away: number; unseen: number };
  openFaults: Record<string, number>;
  /** Jobs made in the last 24 hours, by status. */
  jobs: { counts: Record<string, number>; isExact: boolean };
  openForwards: number;
  openTerminals: number;
  runningCampaigns: number;
  causes: CommonCause[];
}
