import type { RouterStateName } from './types.ts';

/** All times here are monotonic milliseconds. */

/** What is known that decides the state of a router. */
export interface RouterFacts {
  /** Its agent's tunnel, or its absence. */
  agent: { connected: true; since: number } | { connected: false; since: number; reason: string };
  /** The newest word of its agent on the present tunnel; undefined before the first. */
  heartbeat: { reachable: boolean; reason: string; at: number } | undefined;
  /** False: another device answers under its name, so nobody speaks for it. */
  named: boolean;
  /** When anything was heard of it, on whatever tunnel. */
  heardAt: number;
}

export interface Verdict {
  state: RouterStateName;
  since: number;
  reason: string | null;
}

/** The agent has not tried the router yet: no word on it. */
export const STARTING = 'starting';
/** The agent is there and says nothing of the router: it was taken out of the configuration, or another device answers in its place. */
export const NOT_REPORTED = 'not_reported';

/**
 * The state of a router. While a state goes on, `since` stays; only the reason may become another one.
 * @param silentMs so long may a router's agent be connected and not speak of it; the same time after which it loses its pulse
 */
export function stateOf(before: Verdict, facts: RouterFacts, now: number, silentMs: number): Verdict {
  const next = judge(before, facts, now, silentMs);
  return next.state === before.state ? { ...next, since: before.since } : next;
}

function judge(before: Verdict, { agent, heartbeat, named, heardAt }: RouterFacts, now: number, silentMs: number): Verdict {
  if (!named) return { state: 'not_answering', since: heardAt, reason: NOT_REPORTED };
  // Nothing was ever heard of it, and no agent is there that could say anything.
  if (!agent.connected && before.state === 'never_seen') return before;
  if (!agent.connected) return { state: 'agent_away', since: agent.since, reason: agent.reason };
  const lastWord = heartbeat?.at ?? agent.since;
  if (now - lastWord > silentMs) return { state: 'not_answering', since: lastWord, reason: NOT_REPORTED };
  if (!heartbeat) return before;
  if (heartbeat.reachable) return { state: 'answering', since: heartbeat.at, reason: null };
  const isUnasked = heartbeat.reason === STARTING && (before.state === 'agent_away' || before.state === 'never_seen');
  return isUnasked ? before : { state: 'not_answering', since: heartbeat.at, reason: heartbeat.reason };
}
