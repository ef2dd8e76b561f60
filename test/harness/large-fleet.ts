import { newId } from '../../server/platform/core/ids.ts';
import { inChunks } from '../../server/platform/storage/columns.ts';
import type { Db, Storage } from '../../server/platform/storage/db.ts';
import { seedTeam } from './seed.ts';

export interface LargeFleet {
  teamId: string;
  /** Each has {@link ROUTERS_PER_AGENT} routers. */
  agents: string[];
  routers: string[];
  /** One queued job of each router in turn, the oldest first. */
  jobs: string[];
}

const ROUTERS_PER_AGENT = 2;
/** Rows of one insert: a job has 30 columns, and SQLite takes 32,766 values. */
const CHUNK = 500;
const HOUR = 3_600_000;

/**
 * A team of one network: many agents with two routers each, jobs for all of them, and records of a working day.
 * @param held how many of the jobs run; the others wait
 */
export async function seedLargeFleet(
  storage: Storage,
  { agents: agentCount, jobs: jobCount, held = 0, now }: { agents: number; jobs: number; held?: number; now: number },
): Promise<LargeFleet> {
  const { db } = storage;
  const { teamId } = await seedTeam(storage, now);
  const agents = Array.from({ length: agentCount }, () => newId(now));
  await insertAll(
    agents.map((id, index) => ({
      id,
      team_id: teamId,
      site_id: null,
      name: `agent ${index}`,
      secret_hash: id,
      version: null,
      created_at: now,
      revoked_at: null,
      epoch: 1,
      confirmed_epoch: 1,
      journal_id: null,
      connected_at: now,
      disconnected_at: null,
    })),
    (rows) => db.insertInto('agents').values(rows).execute(),
  );
  const routers = await seedRouters(db, teamId, agents, now);
  const jobs = Array.from({ length: jobCount }, () => newId(now));
  await insertAll(
    jobs.map((id, index) => {
      const router = index % routers.length;
      const job = queuedJob({ id, teamId, routerId: routers[router]!, now });
      const isHeld = index < held;
      return {
        ...job,
        ...(isHeld
          ? { phase: 'running', agent_id: agents[Math.floor(router / ROUTERS_PER_AGENT)]!, epoch: 1, overdue_at: now + HOUR }
          : {}),
      };
    }),
    (rows) => db.insertInto('jobs').values(rows).execute(),
  );
  await seedRecords(db, { teamId, agents, routers, jobs }, now);
  return { teamId, agents, routers, jobs };
}

async function insertAll<Row>(rows: readonly Row[], insert: (chunk: Row[]) => Promise<unknown>): Promise<void> {
  for (const chunk of inChunks(rows, CHUNK)) await insert([...chunk]);
}

async function seedRouters(db: Db, teamId: string, agents: readonly string[], now: number): Promise<string[]> {
  const rows = Array.from({ length: agents.length * ROUTERS_PER_AGENT }, (_, index) => ({
    id: newId(now),
    team_id: teamId,
    site_id: null,
    hardware_id: `${teamId} ${index}`,
    agent_id: agents[Math.floor(index / ROUTERS_PER_AGENT)]!,
    agent_router: `router ${index % ROUTERS_PER_AGENT}`,
    serial_number: `HW${index}`,
    software_id: null,
    identity: `gw-${index}`,
    software_version: '7.18.2 (stable)',
    version_key: '7',
    model: 'RB4011iGS+',
    board_name: 'board',
    hardware_board: 1 as const,
    architecture: null,
    time_zone: null,
    created_at: now,
    updated_at: now,
  }));
  await insertAll(rows, (chunk) => db.insertInto('routers').values(chunk).execute());
  return rows.map(({ id }) => id);
}

function queuedJob({ id, teamId, routerId, now }: { id: string; teamId: string; routerId: string; now: number }) {
  return {
    id,
    team_id: teamId,
    router_id: routerId,
    site_id: null,
    token: id,
    request_id: id,
    idempotency_key: id,
    description: 'd',
    script: ':put 1',
    express_execute: 0 as const,
    needs_acknowledgement: 1 as const,
    make_backup: 0 as const,
    notify_url: null,
    timeout_ms: 1000,
    phase: 'queued',
    output_truncated: 0 as const,
    created_by: null,
    created_via: null,
    created_at: now,
    expires_at: now + HOUR,
    version: 1,
    notified_version: 0,
    undo_seconds: null,
  };
}

/** Forwards that have ended, backups that wait, claims that were refused, and tunnels of before: one of each router or agent. */
async function seedRecords(db: Db, { teamId, agents, routers, jobs }: LargeFleet, now: number): Promise<void> {
  await insertAll(
    routers.map((routerId, index) => ({
      id: newId(now),
      team_id: teamId,
      router_id: routerId,
      port: 1 + (index % 65_000),
      allow_only_cidr: '203.0.113.7/32',
      dst_address: '10.0.0.1',
      dst_port: 22,
      entry_point: 'x',
      channel_token_hash: 'x',
      created_by: 'x',
      created_via: null,
      idempotency_key: null,
      created_at: now,
      expires_at: now + 1000,
      closed_at: now,
      refused_attempts: 0,
      idle_seconds: null,
      max_connections: null,
    })),
    (rows) => db.insertInto('forwards').values(rows).execute(),
  );
  await insertAll(
    jobs
      .slice(0, routers.length)
      .map((jobId, index) => ({
        id: newId(now),
        team_id: teamId,
        router_id: routers[index]!,
        job_id: jobId,
        wanted: null,
        state: 'pending',
        attempts: 0,
        due_at: now + HOUR,
        error: null,
        created_at: now,
        stored_at: null,
      })),
    (rows) => db.insertInto('backups').values(rows).execute(),
  );
  await insertAll(
    routers
      .slice(1)
      .map((routerId, index) => ({
        id: newId(now),
        team_id: teamId,
        router_id: routerId,
        agent_id: agents[index % agents.length]!,
        agent_router: `router ${index}`,
        address: '203.0.113.7',
        facts: '{}',
        state: index % 2 === 0 ? 'refused' : 'pending',
        created_at: now,
        updated_at: now,
      })),
    (rows) => db.insertInto('router_moves').values(rows).execute(),
  );
  await insertAll(
    agents.map((agentId) => ({
      id: newId(now),
      team_id: teamId,
      agent_id: agentId,
      epoch: 1,
      opened_at: now,
      ready_at: now,
      closed_at: now,
      address: '203.0.113.7',
      agent_version: null,
      reset: 0 as const,
      ended_by: 'normal',
      round_trip_min_us: null,
      round_trip_p50_us: null,
      round_trip_p95_us: null,
      pings_answered: 0,
      pings_lost: 0,
      bytes_in: null,
      bytes_out: null,
    })),
    (rows) => db.insertInto('agent_sessions').values(rows).execute(),
  );
}
