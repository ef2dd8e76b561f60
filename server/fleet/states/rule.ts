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
 * After this moment a router of which nothing more is heard is silent; undefined when only a fact can change its state. By time alone, the
 * state changes at no other moment.
 */
export function silentAfter(facts: RouterFacts, silentMs: number): number | undefined {
  return facts.named && facts.agent.connected ? lastWord(facts) + silentMs : undefined;
}

/** When a connected agent last spoke of the router, or could first do so. */
function lastWord({ agent, heartbeat, heardAt }: RouterFacts): number {
  return heartbeat?.at ?? Math.max(agent.since, heardAt);
}

/**
 * The state of a router. While a state continues, `since` stays; only the reason may change.
 * @param silentMs how long a connected agent may not report the router; the same time after which `has_pulse` becomes false
 */
export function stateOf(before: Verdict, facts: RouterFacts, now: number, silentMs: number): Verdict {
  const next = judge(before, facts, now, silentMs);
  return next.state === before.state ? { ...next, since: before.since } : next;
}

function judge(before: Verdict, facts: RouterFacts, now: number, silentMs: number): Verdict {
  const { agent, heartbeat, named, heardAt } = facts;
  if (!named) return { state: 'not_answering', since: heardAt, reason: NOT_REPORTED };
  // It was never reported, and no agent is connected that could report it.
  if (!agent.connected && before.state === 'never_seen') return before;
  if (!agent.connected) return { state: 'agent_away', since: agent.since, reason: agent.reason };
  const silent = silentAfter(facts, silentMs);
  if (silent !== undefined && now > silent) return { state: 'not_answering', since: lastWord(facts), reason: NOT_REPORTED };
  if (!heartbeat) return before;
  if (heartbeat.reachable) return { state: 'answering', since: heartbeat.at, reason: null };
  const isUnasked = heartbeat.reason === STARTING && (before.state === 'agent_away' || before.state === 'never_seen');
  return isUnasked ? before : { state: 'not_answering', since: heartbeat.silentSince ?? heartbeat.at, reason: heartbeat.reason };
}
