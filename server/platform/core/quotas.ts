import type { Counters } from './counters.ts';
import { AppError } from './errors.ts';

interface Quota {
  /** The maximum; beyond it creation is refused. */
  most: number;
  /** What is counted, for the error message. */
  what: string;
  /** What the caller can do. */
  instead: string;
}

/** Limits per team. Each is a line of docs/limits.md. */
export const QUOTAS = {
  /** Each live key may send 60 requests a minute, and a list of keys should stay readable. */
  api_keys_per_team: { most: 1000, what: 'API keys that work', instead: 'revoke some first' },
  /** Allows every key to be rotated with an overlap once, but not repeatedly. */
  rotated_api_keys_per_team: {
    most: 2000,
    what: 'API keys that work, with those that were rotated',
    instead: 'revoke some first, or rotate without an overlap',
  },
  /** A list of them should stay readable. */
  clients_per_team: { most: 200, what: 'clients', instead: 'remove some first' },
  /** The server checks each of them every few seconds. */
  campaigns_per_team: { most: 100, what: 'campaigns that have not ended', instead: 'wait for one or cancel it' },
  /** As many as there may be routers (SIGNALBOX_MAX_ROUTERS_PER_TEAM has this default). */
  sites_per_team: { most: 20_000, what: 'sites', instead: 'remove some first' },
  /** Ten times the staff of the largest operators that run their own fleet. */
  members_per_team: { most: 5000, what: 'members', instead: 'remove some first' },
  /** One agent for each router. */
  agents_per_team: { most: 20_000, what: 'agents that are not revoked', instead: 'revoke some first' },
  /** A roll-out enrols some hundred agents a day, and a token lasts for a day. */
  enrol_tokens_per_team: { most: 2000, what: 'enrolment tokens that can be used', instead: 'use or revoke some first' },
  /** Two jobs for each router of the largest team, with room to spare: some 200 MB of the database. */
  open_jobs_per_team: { most: 50_000, what: 'jobs that have not ended', instead: 'wait for some or delete those that have not begun' },
} as const satisfies Record<string, Quota>;

export type QuotaName = keyof typeof QUOTAS;

/**
 * @param count how many the team has, counted up to the quota
 * @throws AppError `quota_exceeded` naming the limit and what to do; the metric counts it
 */
export function checkQuota(counters: Counters | undefined, name: QuotaName, count: number): void {
  if (count >= QUOTAS[name].most) throw quotaExceeded(counters, name);
}

/** Counts a refusal. @returns the error for the caller */
export function quotaExceeded(counters: Counters | undefined, name: QuotaName): AppError {
  const { most, what, instead } = QUOTAS[name];
  counters?.add(name);
  return new AppError('quota_exceeded', `the team has ${most} ${what}, which is the limit: ${instead}`);
}
