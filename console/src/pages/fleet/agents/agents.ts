import type { Agent } from '../../../../../client/browser.ts';
import { compareTexts } from '../../../data/ranks.ts';

export const AGENT_SORTS = ['away', 'sessions', 'name', 'version'] as const;
export type AgentSort = (typeof AGENT_SORTS)[number];

export interface AgentsSearch {
  q?: string;
  sort?: AgentSort;
}

export function readAgentsSearch({ q, sort }: Record<string, unknown>): AgentsSearch {
  return {
    ...(typeof q === 'string' && q !== '' ? { q } : {}),
    ...(AGENT_SORTS.includes(sort as AgentSort) ? { sort: sort as AgentSort } : {}),
  };
}

/** An agent that connects more often than once in two hours has a line that does not hold. Sessions in 24 hours. */
export const FLAPPING = 12;

export function wordOfAgent({ connected, since }: Agent): string {
  if (connected) return 'connected';
  return since === null ? 'never connected' : 'away';
}

export function agentsInOrder(agents: readonly Agent[], sort: AgentSort): Agent[] {
  const byName = (one: Agent, other: Agent): number => compareTexts(one.name, other.name);
  const orders: Record<AgentSort, (one: Agent, other: Agent) => number> = {
    sessions: (one, other) => other.sessions_24h - one.sessions_24h || byName(one, other),
    away: (one, other) => Number(one.connected) - Number(other.connected) || since(one).localeCompare(since(other)) || byName(one, other),
    name: byName,
    version: (one, other) => compareTexts(one.version ?? '', other.version ?? '') || byName(one, other),
  };
  return agents.toSorted(orders[sort]);
}

/** Those that are away longest first; connected ones by name. */
function since(agent: Agent): string {
  return agent.connected ? '' : (agent.since ?? '9');
}
