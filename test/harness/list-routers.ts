import type { RoutersService } from '../../server/fleet/routers/service.ts';
import type { RouterRecord } from '../../server/fleet/routers/types.ts';

const NONE = { only: [], not: [] };
export const EVERY_ROUTER = { sites: NONE, agents: NONE, models: NONE, versions: [] };
export const NEWEST_FIRST = { limit: 1000, sort: 'created_at', descending: true, after: undefined } as const;

/** The routers of a team, newest first. */
export async function listEveryRouter(routers: RoutersService, teamId: string): Promise<RouterRecord[]> {
  return [...(await routers.listRouters(teamId, EVERY_ROUTER, NEWEST_FIRST, { wantsTotal: false })).rows];
}
