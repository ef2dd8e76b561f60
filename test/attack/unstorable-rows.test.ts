import { expect, test } from 'vitest';
import { AuditService } from '../../server/access/audit/service.ts';
import { FaultsService } from '../../server/fleet/faults/service.ts';
import { selectFaults } from '../../server/fleet/faults/store.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import { Counters } from '../../server/platform/core/counters.ts';
import { AppError } from '../../server/platform/core/errors.ts';
import { newId } from '../../server/platform/core/ids.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { storeApart } from '../../server/platform/core/store-apart.ts';
import { ConnectionLog } from '../../server/work/forwards/connections/log.ts';
import { insertForward } from '../../server/work/forwards/store.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { NO_STATES } from '../harness/faults-bench.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { RecordedLog } from '../harness/recorded-log.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { SOME_CAUSES } from '../harness/causes.ts';

async function insertForwardOf({ db }: Storage, { teamId, routerId }: SeededRouter, port: number, now: number): Promise<string> {
  const id = newId(now);
  await insertForward(db, {
    id,
    team_id: teamId,
    router_id: routerId,
    port,
    allow_only_cidr: '203.0.113.0/24',
    dst_address: '192.168.88.10',
    dst_port: 443,
    entry_point: 'forward.example.net',
    channel_token_hash: 'hash',
    way: null,
    way_reason: null,
    target_reachable: null,
    created_by: 'key',
    created_at: now,
    authorized_at: null,
    expires_at: now + 600_000,
    closed_at: null,
    revoked_at: null,
    refused_attempts: 0,
  });
  return id;
}

/** One row that the database can never take, among those of others: its router or team is gone, or it holds what no text may hold. */

const PAGE = { limit: 1000, before: undefined };

describeEachDatabase('a row that can never be stored', (open) => {
  const setUp = async () => {
    const storage = await open();
    const clock = new ManualClock(1_700_000_000_000);
    const log = new RecordedLog();
    const counters = new Counters();
    const routers = new RoutersService({ storage, clock, log, rules: { offlineAfterMs: 75_000 }, counters });
    const seeded: SeededRouter[] = [];
    for (let n = 0; n < 5; n += 1) seeded.push(await seedRouter(storage));
    return { storage, clock, log, counters, routers, seeded };
  };
  const connectionOf = ({ teamId, agentId }: SeededRouter, address = '198.51.100.7') => ({
    teamId,
    agentId,
    epoch: 1,
    address,
    reset: false,
  });
  const removeRouter = ({ db }: Storage, { routerId }: SeededRouter) => db.deleteFrom('routers').where('id', '=', routerId).execute();
  const skipped = ({ lines }: RecordedLog) => lines.filter(({ message }) => message.startsWith('the database rejects'));

  test('does not prevent storing the presence of other routers, and is not retried every time', async () => {
    const { storage, clock, log, counters, routers, seeded } = await setUp();
    for (const each of seeded) await routers.onReady(connectionOf(each));
    await removeRouter(storage, seeded[2]!);
    const beat = () => {
      for (const each of seeded) {
        routers.onHeartbeat(connectionOf(each), {
          type: 'heartbeat',
          routers: [{ name: `router ${each.routerId}`, reachable: true, uptime_seconds: 5, reason: null }],
        });
      }
    };
    beat();
    await routers.stop();
    const stored = await storage.db.selectFrom('router_presence').select('router_id').where('reachable', '=', 1).execute();
    expect(stored.map(({ router_id: id }) => id).toSorted()).toEqual(
      seeded
        .filter((_, n) => n !== 2)
        .map(({ routerId }) => routerId)
        .toSorted(),
    );
    expect(skipped(log)).toEqual([
      expect.objectContaining({ level: 'error', router_id: seeded[2]!.routerId, err: expect.anything() as unknown }),
    ]);
    expect(counters.refusedRows.presence).toBe(1);
    clock.advance(5000);
    beat();
    await routers.stop();
    expect(counters.refusedRows.presence).toBe(1);
  });

  test('does not prevent storing the faults of other routers', async () => {
    const { storage, clock, log, counters, routers, seeded } = await setUp();
    const faults = new FaultsService({
      storage,
      clock,
      log,
      rules: { heartbeatMs: 30_000, offlineAfterMs: 75_000 },
      states: NO_STATES,
      routers,
      counters,
    });
    await faults.start();
    await removeRouter(storage, seeded[0]!);
    for (const { routerId } of seeded) faults.setCondition(routerId, 'devices_truncated', { message: 'many', causes: SOME_CAUSES });
    await faults.stop();
    expect(faults.waiting.taken).toBe(0);
    for (const { teamId } of seeded.slice(1)) expect(await selectFaults(storage.db, { teamId, status: 'open' }, PAGE)).toHaveLength(1);
    expect(skipped(log)).toEqual([expect.objectContaining({ router_id: seeded[0]!.routerId })]);
    expect(counters.refusedRows.faults).toBe(1);
  });

  test('does not prevent storing the audit entries of others', async () => {
    const { storage, clock, log, counters, seeded } = await setUp();
    const audit = new AuditService({ storage, clock, log, counters });
    const entry = { actor_kind: 'api_key', actor_id: 'k', source: '192.0.2.1', action: 'a', target: null, result: 200 };
    for (const [n, { teamId }] of seeded.entries()) audit.record({ ...entry, team_id: teamId, action: n === 1 ? 'a\0' : 'a' });
    await audit.stop();
    const lengths = await Promise.all(seeded.map(async ({ teamId }) => (await audit.list(teamId, {}, PAGE)).length));
    expect(lengths).toEqual([1, 0, 1, 1, 1]);
    expect(counters.refusedRows.audit).toBe(1);
  });

  test('does not prevent storing the connections of other forwards', async () => {
    const { storage, clock, log, counters, seeded } = await setUp();
    const connections = new ConnectionLog({ storage, clock, log, flushMs: 1000, open: () => [], counters });
    const now = clock.now();
    const ids = await Promise.all(seeded.slice(0, 2).map((router, n) => insertForwardOf(storage, router, 20_000 + n, now)));
    for (const [n, id] of [newId(now), ...ids].entries()) {
      const key = { id, teamId: seeded[Math.max(0, n - 1)]!.teamId };
      connections.connectionClosed(key, {
        id: newId(now),
        source: '192.0.2.1',
        openedAt: now,
        closedAt: now,
        bytesIn: 1,
        bytesOut: 2,
        endedBy: 'client',
      });
    }
    await connections.flush();
    expect(
      (await storage.db.selectFrom('forward_connections').select('forward_id').execute()).map(({ forward_id: id }) => id).toSorted(),
    ).toEqual(ids.toSorted());
    const counted = await storage.db.selectFrom('forwards').select(['connection_count', 'bytes_out']).execute();
    expect(counted).toEqual([
      { connection_count: 1, bytes_out: 2 },
      { connection_count: 1, bytes_out: 2 },
    ]);
    expect(counters.refusedRows.connections).toBe(1);
  });
});

test('after a failure half-way, the remaining rows wait and the stored rows are not stored twice', async () => {
  let calls = 0;
  const stored: number[] = [];
  const write = async (rows: readonly number[]): Promise<void> => {
    calls += 1;
    if (calls === 4) throw new AppError('unavailable', 'disk full');
    if (rows.includes(2)) throw new Error('never');
    stored.push(...rows);
  };
  const { refused, left, error } = await storeApart([0, 1, 2, 3, 4, 5, 6, 7], write);
  // All, 0 to 3, 0 and 1, and then 2 and 3 together.
  expect({ stored, refused, left }).toEqual({ stored: [0, 1], refused: [], left: [2, 3, 4, 5, 6, 7] });
  expect(error).toMatchObject({ code: 'unavailable' });
});
