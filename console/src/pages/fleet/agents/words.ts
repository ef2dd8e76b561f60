import type { AgentSort } from './agents.ts';

export const words = {
  title: 'Agents',
  connect: 'Connect an agent',
  filter: 'Name or IP address',
  found: '{shown} of {all}',
  order: 'Order',
  orders: { sessions: 'sessions a day', away: 'away first', name: 'name', version: 'version' } satisfies Record<AgentSort, string>,
  none: 'Agents that were enrolled would be here. An admin enrols one with a token.',
  noMatch: 'No agent matches. Shorten the filter.',
  sentence: {
    none: 'No agent was enrolled yet.',
    onlyAway: 'The agent is away.',
    all: (count: number) => (count === 1 ? 'The agent is connected.' : `All ${count} agents are connected.`),
    some: (connected: number, all: number) => `${connected} of ${all} agents are connected.`,
    away: (count: number) => `${count} ${count === 1 ? 'is' : 'are'} away.`,
  },
  columns: {
    state: 'State',
    agent: 'Agent',
    since: 'Since',
    sessions: 'Sessions, 24 h',
    trip: 'Round trip',
    routers: 'Routers',
    from: 'Seen from',
    version: 'Version',
  },
  flapping: (sessions: number) => `${sessions}, flapping`,
  trip: (ms: number) => `${ms} ms`,
};
