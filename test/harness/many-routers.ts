import { newId } from '../../server/platform/core/ids.ts';
import { versionKey } from '../../routeros-text/versions.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { seedAgent, seedTeam } from './seed.ts';

export interface ManyRouters {
  teamId: string;
  agents: string[];
  sites: string[];
  routers: string[];
}

const MODELS = ['RBD52G-5HacD2HnD', 'CCR2004-1G-12S+2XS', 'RB4011iGS+', null];
const VERSIONS = ['6.49.10 (long-term)', '7.9', '7.15beta2', '7.15rc1', '7.15', '7.15.1', '7.18.2 (stable)', 'unknown'];
const PER_AGENT = 100;
const PER_SITE = 250;
const ROWS_OF_ONE_INSERT = 500;

/**
 * A team with routers of all kinds, some of them made in the same millisecond and some with the same name. Every text that a filter looks at
 * follows from the count alone, so that a filter finds the same number of routers at every run.
 */
export async function seedManyRouters(storage: Storage, count: number, start = 1_700_000_000_000): Promise<ManyRouters> {
  const { db } = storage;
  const { teamId } = await seedTeam(storage, start);
  const agents: string[] = [];
  for (let at = 0; at < count; at += PER_AGENT) agents.push(await seedAgent(storage, teamId, start, `agent-${at / PER_AGENT}`));
  const sites = Array.from({ length: Math.ceil(count / PER_SITE) }, () => newId(start));
  await db
    .insertInto('sites')
    .values(sites.map((id, index) => ({ id, team_id: teamId, name: `site ${index}`, created_at: start })))
    .execute();
  const rows = Array.from({ length: count }, (_, index) => {
    const createdAt = start + Math.floor(index / 3);
    const version = VERSIONS[index % VERSIONS.length]!;
    return {
      id: newId(createdAt),
      team_id: teamId,
      site_id: index % 7 === 0 ? null : sites[Math.floor(index / PER_SITE)]!,
      hardware_id: `HW${index}`,
      agent_id: agents[Math.floor(index / PER_AGENT)]!,
      agent_router: `router-${index}`,
      serial_number: `HW${index}`,
      software_id: null,
      identity: `gw-${index % 997}`,
      software_version: version,
      version_key: versionKey(version),
      model: MODELS[index % MODELS.length]!,
      board_name: 'board',
      hardware_board: 1 as const,
      architecture: null,
      time_zone: null,
      created_at: createdAt,
      updated_at: createdAt,
    };
  });
  for (let at = 0; at < count; at += ROWS_OF_ONE_INSERT)
    await db
      .insertInto('routers')
      .values(rows.slice(at, at + ROWS_OF_ONE_INSERT))
      .execute();
  return { teamId, agents, sites, routers: rows.map(({ id }) => id) };
}

/** All routers but each fiftieth were heard of, from the addresses of their agents: the first state of a start is that their agents are away. */
export async function seedPresence({ db }: Storage, { routers }: ManyRouters, at: number): Promise<void> {
  const rows = routers.flatMap((id, index) => {
    const agent = Math.floor(index / PER_AGENT);
    const from = `198.51.${100 + (agent % 100)}.${Math.floor(agent / 100) + 1}`;
    return index % 50 === 0
      ? []
      : [{ router_id: id, reachable: 1 as const, uptime_seconds: 1000, last_seen_at: at + index, last_seen_from: from }];
  });
  for (let from = 0; from < rows.length; from += ROWS_OF_ONE_INSERT)
    await db
      .insertInto('router_presence')
      .values(rows.slice(from, from + ROWS_OF_ONE_INSERT))
      .execute();
}
