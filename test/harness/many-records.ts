import { newId } from '../../server/platform/core/ids.ts';
import { PHASES } from '../../server/work/jobs/state.ts';
import { BACKUP_STATES } from '../../server/work/backups/types.ts';
import { FAULT_SEVERITY } from '../../server/fleet/faults/types.ts';
import { indexWaiting } from '../../server/platform/storage/search-waiting.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { inChunks } from '../../server/platform/storage/columns.ts';
import type { ManyRouters } from './many-routers.ts';

const DAY_MS = 86_400_000;
/** Rows of one insert: a job has 30 columns, and SQLite takes 32,766 values. */
const CHUNK = 500;

/** A moment now and then, so that some records share theirs; null otherwise. */
function sometimes(index: number, of: number, at: number): number | null {
  return index % of === 0 ? at : null;
}

/** Jobs in all phases with all combinations of their moments, oldest first. */
export async function seedJobs({ db }: Storage, { teamId, routers, sites }: ManyRouters, count: number, start: number): Promise<string[]> {
  const ids: string[] = [];
  const rowOf = (index: number) => {
    const at = start + Math.floor(index / 3);
    return {
      id: newId(at),
      team_id: teamId,
      router_id: routers[index % routers.length]!,
      site_id: index % 5 === 0 ? null : sites[index % sites.length]!,
      token: `token ${index}`,
      request_id: 'r',
      idempotency_key: `key ${index}`,
      description: `job ${index}`,
      script: ':put 1',
      express_execute: 0 as const,
      needs_acknowledgement: 1 as const,
      make_backup: 1 as const,
      notify_url: null,
      timeout_ms: 1000,
      phase: PHASES[index % PHASES.length]!,
      output: 'long',
      output_truncated: 0 as const,
      created_by: null,
      created_via: null,
      created_at: at,
      // Not while a test or a benchmark runs.
      expires_at: at + DAY_MS,
      completed_at: sometimes(index, 2, at),
      failed_at: sometimes(index, 3, at),
      deleted_at: sometimes(index, 11, at),
      version: 1,
      notified_version: 0,
      undo_seconds: null,
    };
  };
  for (const indexes of chunksOf(count)) {
    const rows = indexes.map(rowOf);
    await db.insertInto('jobs').values(rows).execute();
    for (const { id } of rows) ids.push(id);
  }
  return ids;
}

/** The numbers from 0, in pieces of one insert: a million rows are not held at once. */
function* chunksOf(count: number): Generator<number[]> {
  for (let from = 0; from < count; from += CHUNK) yield Array.from({ length: Math.min(CHUNK, count - from) }, (_, index) => from + index);
}

const MANUFACTURERS = ['Routerboard.com', 'Apple, Inc.', 'Samsung Electronics Co.,Ltd', 'Hewlett Packard', null];

/** Devices at the sites of a team, each seen by one router, some with a name that people gave them, the oldest first. */
export async function seedDevices(storage: Storage, { teamId, routers, sites }: ManyRouters, count: number, start: number): Promise<void> {
  const { db } = storage;
  for (const indexes of chunksOf(count)) {
    const devices = indexes.map((index) => {
      const site = sites[index % sites.length]!;
      const mac = [40, 32, 24, 16, 8, 0].map((shift) => Math.floor(index * 2_654_435_761 + 0x4c_5e_00_00_00_00) / 2 ** shift);
      return {
        id: newId(start + Math.floor(index / 500)),
        team_id: teamId,
        place: site,
        site_id: site,
        mac: mac.map((byte) => (Math.floor(byte) % 256).toString(16).padStart(2, '0').toUpperCase()).join(':'),
        hostname: index % 3 === 0 ? null : `${index % 2 === 0 ? 'till' : 'iPhone'}-${index}`,
        manufacturer: MANUFACTURERS[index % MANUFACTURERS.length]!,
        first_seen_at: start + Math.floor(index / 500),
      };
    });
    const sightings = devices.map(({ id, first_seen_at: at }, index) => ({
      device_id: id,
      router_id: routers[indexes[index]! % routers.length]!,
      ip_address: `192.168.${(indexes[index]! >> 8) % 256}.${indexes[index]! % 256}`,
      interface: 'bridge',
      ip_first_seen_at: at,
      last_seen_at: at,
      present: 1 as const,
    }));
    const aliases = devices
      .filter((_, index) => index % 50 === 0)
      .map(({ mac }, index) => ({ team_id: teamId, mac, alias: `Till ${index}`, updated_at: start }));
    await db.insertInto('devices').values(devices).execute();
    await db.insertInto('device_sightings').values(sightings).execute();
    await db.insertInto('device_aliases').values(aliases).execute();
  }
  await indexWaiting(storage);
}

export async function seedFaults({ db }: Storage, { teamId, routers }: ManyRouters, count: number, start: number): Promise<void> {
  const types = Object.entries(FAULT_SEVERITY);
  const rows = Array.from({ length: count }, (_, index) => {
    const [type, severity] = types[index % types.length]!;
    const at = start + Math.floor(index / 3);
    const isOpen = index < routers.length && index % 4 === 0;
    return {
      id: newId(at),
      team_id: teamId,
      router_id: routers[index % routers.length]!,
      type,
      severity,
      message: 'm',
      cause: 'c',
      created_at: at,
      resolved_at: isOpen ? null : at + 1,
      occurrences: 1,
      updated_at: at,
    };
  });
  for (const chunk of inChunks(rows, CHUNK)) await db.insertInto('faults').values(chunk).execute();
}

/** Ended terminals; every tenth was never opened. */
export async function seedTerminals(
  { db }: Storage,
  { teamId, agents, routers }: ManyRouters,
  count: number,
  start: number,
): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => {
    const at = start + Math.floor(index / 3);
    const isOpened = index % 10 !== 9;
    return {
      id: newId(at),
      team_id: teamId,
      router_id: routers[index % routers.length]!,
      agent_id: agents[0]!,
      level: index % 2 === 0 ? 'read' : 'full',
      reason: `ticket ${index}`,
      opened_by: 'x',
      opened_by_kind: 'api_key',
      opened_via: null,
      signed_in_at: null,
      source: '203.0.113.7',
      created_at: at,
      opened_at: isOpened ? at : null,
      ended_at: at + 1,
      end_reason: isOpened ? 'exited' : 'not_opened',
      end_message: 'm',
      ended_by: null,
      cols: 80,
      rows: 24,
      recording_deleted_at: null,
    };
  });
  for (const chunk of inChunks(rows, CHUNK)) await db.insertInto('terminals').values(chunk).execute();
}

let nextPort = 1;

export async function seedForwards({ db }: Storage, { teamId, routers }: ManyRouters, count: number, start: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => ({
    id: newId(start + index),
    team_id: teamId,
    router_id: routers[index % routers.length]!,
    port: (nextPort += 1),
    allow_only_cidr: '203.0.113.7/32',
    dst_address: '10.0.0.1',
    dst_port: 22,
    entry_point: 'x',
    channel_token_hash: 'x',
    created_by: 'x',
    created_via: null,
    idempotency_key: null,
    created_at: start + index,
    expires_at: start + 1000,
    closed_at: index % 3 === 0 ? null : start + 1,
    refused_attempts: 0,
    idle_seconds: null,
    max_connections: null,
  }));
  for (const chunk of inChunks(rows, CHUNK)) await db.insertInto('forwards').values(chunk).execute();
}

export async function seedBackups(
  { db }: Storage,
  { teamId, routers }: ManyRouters,
  jobs: readonly string[],
  start: number,
): Promise<void> {
  const rows = jobs.map((jobId, index) => ({
    id: newId(start + index),
    team_id: teamId,
    router_id: routers[index % routers.length]!,
    job_id: jobId,
    state: BACKUP_STATES[index % BACKUP_STATES.length]!,
    attempts: 0,
    due_at: null,
    error: null,
    created_at: start + Math.floor(index / 3),
    stored_at: null,
  }));
  for (const chunk of inChunks(rows, CHUNK)) await db.insertInto('backups').values(chunk).execute();
}
