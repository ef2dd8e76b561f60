import { NOT_REPORTED } from './types.ts';
import type { Verdict } from './types.ts';

/** All times here are monotonic milliseconds. */

/** The facts that decide the state of a router. */
export interface RouterFacts {
  /** Whether its agent has a tunnel. */
  agent: { connected: true; since: number } | { connected: false; since: number; reason: string };
  /**
   * The agent's newest report about it on the present tunnel; undefined before the first. `silentSince`: when a router that went silent was
   * heard last.
   */
  heartbeat: { reachable: boolean; reason: string; at: number; silentSince?: number | undefined } | undefined;
  /** False: another device answers under its name, so no report is about it. */
  named: boolean;
  /** Time of the last report about it or of its last inventory, on any tunnel. */
  heardAt: number;
}

/** The agent has not tried the router yet, so this is no report. */
export const STARTING = 'starting';

/**
 * The state of a router. While a state continues, `since` stays; only the reason may change.
 * @param silentMs how long a connected agent may not report the router; the same time after which `has_pulse` becomes false
 */
export function stateOf(before: Verdict, facts: RouterFacts, now: number, silentMs: number): Verdict {
  const next = judge(before, facts, now, silentMs);
  return next.state === before.state ? { ...next, since: before.since } : next;
}

function judge(before: Verdict, { agent, heartbeat, named, heardAt }: RouterFacts, now: number, silentMs: number): Verdict {
  if (!named) return { state: 'not_answering', since: heardAt, reason: NOT_REPORTED };
  // It was never reported, and no agent is connected that could report it.
  if (!agent.connected && before.state === 'never_seen') return before;
  if (!agent.connected) return { state: 'agent_away', since: agent.since, reason: agent.reason };
  const lastWord = heartbeat?.at ?? Math.max(agent.since, heardAt);
  if (now - lastWord > silentMs) return { state: 'not_answering', since: lastWord, reason: NOT_REPORTED };
  if (!heartbeat) return before;
  if (heartbeat.reachable) return { state: 'answering', since: heartbeat.at, reason: null };
  const isUnasked = heartbeat.reason === STARTING && (before.state === 'agent_away' || before.state === 'never_seen');
  return isUnasked ? before : { state: 'not_answering', since: heartbeat.silentSince ?? heartbeat.at, reason: heartbeat.reason };
}
