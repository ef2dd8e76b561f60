import { type RawBuilder, sql } from 'kysely';
import type { Storage } from '../../server/platform/storage/db.ts';
import { QUOTAS } from '../../server/platform/core/quotas.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { seedManyRouters } from './many-routers.ts';

/** Numbers of records: the limits of docs/limits.md. Of a million devices a fifth: they are read in steps, however many there are. */
export const LARGEST = {
  routers: 20_000,
  agents: QUOTAS.agents_per_team.most,
  sites: QUOTAS.sites_per_team.most,
  members: QUOTAS.members_per_team.most,
  devices: 200_000,
  openJobs: QUOTAS.open_jobs_per_team.most,
};

/** Rows of one statement, so that a running server can write in between. */
const CHUNK = 20_000;
const NOW = Date.now();
/** Jobs of the campaign with as much output as is kept of one. */
const LONG_OUTPUTS = 1000;
const HOUR_MS = 3_600_000;

export interface LargestTeam {
  teamId: string;
  /** Each has a hundred routers. */
  agentIds: string[];
  siteId: string;
  routerId: string;
  campaignId: string;
}

/** A UUID made of a kind and a number, in SQL. */
const idOf = (kind: number): RawBuilder<string> => sql.raw(`printf('0000000${kind}-0000-7000-8000-%012x', numbers.n)`);

/** Fills a team of a SQLite database up to its limits: statements that make their own rows, a million of them in some seconds. */
export async function seedLargestTeam(storage: Storage, counts: typeof LARGEST = LARGEST): Promise<LargestTeam> {
  const { db } = storage;
  const fleet = await seedManyRouters(storage, counts.routers, NOW - 100 * HOUR_MS);
  const { teamId } = fleet;
  const insert = async (count: number, statement: (from: RawBuilder<unknown>) => RawBuilder<unknown>): Promise<void> => {
    for (let first = 0; first < count; first += CHUNK) {
      const last = Math.min(first + CHUNK, count) - 1;
      await statement(sql`(with recursive numbers(n) as (select ${first} union all select n + 1 from numbers where n < ${last})
        select n from numbers) as numbers`).execute(db);
    }
  };
  await sql`create table seeded_routers (n integer primary key, id text, site_id text)`.execute(db);
  await sql`insert into seeded_routers select row_number() over (order by id) - 1, id, site_id from routers where team_id = ${teamId}`.execute(
    db,
  );
  const routerOf = sql.raw(`(select id from seeded_routers where seeded_routers.n = numbers.n % ${counts.routers})`);
  await insert(
    counts.agents - fleet.agents.length,
    (numbers) => sql`insert into agents
    (id, team_id, name, secret_hash, created_at, epoch, confirmed_epoch)
    select ${idOf(1)}, ${teamId}, 'agent ' || n, '', ${NOW} - n, 0, 0 from ${numbers}`,
  );
  await insert(
    counts.sites - fleet.sites.length,
    (numbers) => sql`insert into sites (id, team_id, name, created_at)
    select ${idOf(2)}, ${teamId}, 'further site ' || n, ${NOW} - n from ${numbers}`,
  );
  await insert(
    counts.members,
    (numbers) => sql`insert into users (id, email, created_at)
    select ${idOf(3)}, 'person' || n || '@example.net', ${NOW} - n from ${numbers}`,
  );
  await insert(
    counts.members,
    (numbers) => sql`insert into members (team_id, user_id, role, active, created_at)
    select ${teamId}, ${idOf(3)}, 'viewer', 1, ${NOW} - n from ${numbers}`,
  );
  await insert(
    counts.devices,
    (numbers) => sql`insert into devices
    (id, team_id, place, site_id, mac, hostname, manufacturer, first_seen_at)
    select ${idOf(4)}, ${teamId}, coalesce(seeded_routers.site_id, seeded_routers.id), seeded_routers.site_id,
      printf('02:00:%02X:%02X:%02X:%02X', (numbers.n >> 24) & 255, (numbers.n >> 16) & 255, (numbers.n >> 8) & 255, numbers.n & 255),
      'host-' || numbers.n, 'Example Manufacturing Ltd', ${NOW} - numbers.n
    from ${numbers} join seeded_routers on seeded_routers.n = numbers.n % ${counts.routers}`,
  );
  await insert(
    counts.devices,
    (numbers) => sql`insert into device_sightings
    (device_id, router_id, ip_address, interface, ip_first_seen_at, last_seen_at, present)
    select ${idOf(4)}, ${routerOf}, '10.' || (n >> 16) || '.' || ((n >> 8) & 255) || '.' || (n & 255), 'bridge', ${NOW}, ${NOW}, 1
    from ${numbers}`,
  );
  const job = (kind: number, phase: string, endedAt: string, output: string) => (numbers: RawBuilder<unknown>) =>
    sql`insert into jobs
    (id, team_id, router_id, site_id, token, request_id, idempotency_key, description, script, express_execute, needs_acknowledgement, make_backup,
     timeout_ms, phase, output, output_truncated, created_at, expires_at, completed_at, version, notified_version)
    select ${idOf(kind)}, ${teamId}, ${routerOf}, null, 'token ' || n, ${sql.raw(`'r${kind}', 'key ${kind} '`)} || n, 'job ' || n, ':put 1', 1, 1, 0,
      1000, ${phase}, ${sql.raw(output)}, 0, ${NOW} - 50000 + n, ${NOW} + 100 * ${HOUR_MS}, ${sql.raw(endedAt)}, 1, 0 from ${numbers}`;
  await insert(counts.openJobs, job(5, 'queued', 'null', 'null'));
  await insert(counts.openJobs, job(6, 'done', String(NOW), 'null'));
  await insert(
    2 * counts.routers,
    (numbers) => sql`insert into faults
    (id, team_id, router_id, type, severity, message, cause, created_at, resolved_at, occurrences, updated_at)
    select ${idOf(7)}, ${teamId}, ${routerOf}, case when n < ${counts.routers} then 'clock_wrong' else 'high_cpu' end, 'warning',
      'the clock of the router is wrong', 'it differs by more than a minute', ${NOW} - n, null, 1, ${NOW} from ${numbers}`,
  );
  await insert(
    100_000,
    (numbers) => sql`insert into faults
    (id, team_id, router_id, type, severity, message, cause, created_at, resolved_at, occurrences, updated_at)
    select ${idOf(8)}, ${teamId}, ${routerOf}, 'rebooted', 'info', 'the router restarted', 'its uptime began anew', ${NOW} - n, ${NOW}, 1, ${NOW}
    from ${numbers}`,
  );
  const campaignId = newId(NOW);
  await db
    .insertInto('campaigns')
    .values({
      id: campaignId,
      team_id: teamId,
      request_id: 'r',
      idempotency_key: 'k',
      created_by: 'x',
      description: 'everywhere',
      script: ':put 1',
      express_execute: 1,
      needs_acknowledgement: 1,
      make_backup: 0,
      deliver_within_minutes: 60,
      canary_count: 0,
      rate_per_minute: null,
      most_at_once: 100,
      target_count: counts.routers,
      state: 'canceled',
      next_start_at: NOW,
      created_at: NOW,
      final_counts: null,
      finished_at: null,
    } as never)
    .execute();
  await insert(counts.routers, job(9, 'done', String(NOW), `case when n < ${LONG_OUTPUTS} then hex(zeroblob(32000)) end`));
  await insert(
    counts.routers,
    (numbers) => sql`insert into campaign_targets
    (campaign_id, team_id, router_id, position, canary, status, job_id, job_version, output_hash, settled_at)
    select ${campaignId}, ${teamId}, ${routerOf}, n, 0, 'completed', ${idOf(9)}, 1, printf('hash %06d', n), ${NOW} from ${numbers}`,
  );
  await sql`update jobs set router_id = ${fleet.routers[0]!} where id in (select id from jobs where team_id = ${teamId} and request_id = 'r9' order by id limit 1000)`.execute(
    db,
  );
  await sql`drop table seeded_routers`.execute(db);
  return { teamId, agentIds: fleet.agents, siteId: fleet.sites[0]!, routerId: fleet.routers[0]!, campaignId };
}
