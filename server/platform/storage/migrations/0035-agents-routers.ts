import type { Migration } from './types.ts';

/**
 * Of queries that name the team and the agent, SQLite took an index of the team and read all its routers: for each agent of a list of
 * 1,000 agents, and whenever an agent connects.
 */
function statements(): string[] {
  return ['create index routers_of_agent on routers (team_id, agent_id)'];
}

export const agentsRouters: Migration = { number: 35, name: 'routers of an agent', statements };
