import { newId } from '../../server/platform/core/ids.ts';
import type { Storage } from '../../server/platform/storage/db.ts';

/** The rows that foreign keys ask for, so that a store test starts from one line. */

export interface SeededTeam {
  teamId: string;
}

export interface SeededRouter extends SeededTeam {
  agentId: string;
  routerId: string;
}

export async function seedTeam({ db }: Storage, now = 1000): Promise<SeededTeam> {
  const teamId = newId(now);
  await db
    .insertInto('teams')
    .values({ id: teamId, name: `team ${teamId}`, created_at: now })
    .execute();
  return { teamId };
}

export async function seedAgent({ db }: Storage, teamId: string, now = 1000, name?: string): Promise<string> {
  const id = newId(now);
  await db
    .insertInto('agents')
    .values({
      id,
      team_id: teamId,
      site_id: null,
      name: name ?? `agent ${id}`,
      secret_hash: '',
      version: null,
      created_at: now,
      revoked_at: null,
      epoch: 0,
      confirmed_epoch: 0,
      journal_id: null,
      connected_at: null,
      disconnected_at: null,
    })
    .execute();
  return id;
}

/** A router with its agent, in a new team unless one is named. */
export async function seedRouter(
  storage: Storage,
  options: { teamId?: string; agentId?: string; now?: number } = {},
): Promise<SeededRouter> {
  const now = options.now ?? 1000;
  const teamId = options.teamId ?? (await seedTeam(storage, now)).teamId;
  const agentId = options.agentId ?? (await seedAgent(storage, teamId, now));
  const routerId = newId(now);
  await storage.db
    .insertInto('routers')
    .values({
      id: routerId,
      team_id: teamId,
      site_id: null,
      hardware_id: `serial ${routerId}`,
      agent_id: agentId,
      agent_router: `router ${routerId}`,
      serial_number: `serial ${routerId}`,
      software_id: null,
      identity: 'MikroTik',
      software_version: '7.18.2 (stable)',
      model: 'RBD52G-5HacD2HnD',
      board_name: 'hAP ac^2',
      hardware_board: 1,
      architecture: 'arm',
      time_zone: null,
      created_at: now,
      updated_at: now,
    })
    .execute();
  return { teamId, agentId, routerId };
}
