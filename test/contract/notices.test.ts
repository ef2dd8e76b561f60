import { beforeEach, expect, test } from 'vitest';
import { CredentialsService } from '../../server/access/credentials/service.ts';
import { Changes } from '../../server/fleet/faults/changes.ts';
import { resolveAllOf } from '../../server/fleet/faults/service.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import { NotificationRetention } from '../../server/outbound/notifications/retention/service.ts';
import { AppError } from '../../server/platform/core/errors.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { deleteNoticesBefore, insertNotices, withdrawNotices } from '../../server/platform/notices/store.ts';
import type { NewNotice } from '../../server/platform/notices/types.ts';
import type { Storage, Tx } from '../../server/platform/storage/db.ts';
import { expireJobs } from '../../server/work/jobs/hand-over/store.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultsBench } from '../harness/faults-bench.ts';
import { insertJob } from '../harness/jobs/insert-job.ts';
import { acceptJob, endJob } from '../harness/jobs/transitions.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { followKinds } from '../harness/notifications.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { SOME_CAUSES } from '../harness/causes.ts';

const SECOND = 1000;
const START = 1_700_000_000_000;

describeEachDatabase('notices', (open) => {
  let storage: Storage;
  let clock: ManualClock;
  let mine: SeededRouter;

  beforeEach(async () => {
    storage = await open();
    clock = new ManualClock(START);
    mine = await seedRouter(storage);
  });

  const write = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => storage.writes.write(work);
  const notices = async (teamId = mine.teamId) =>
    (await storage.db.selectFrom('notices').selectAll().where('team_id', '=', teamId).orderBy('id').execute()).map((row) => ({
      ...row,
      data: JSON.parse(row.data) as Record<string, unknown>,
    }));
  /** As if groups had heard of all. */
  const route = () => storage.db.updateTable('notices').set({ routed_at: clock.now() }).execute();
  const kinds = async (teamId = mine.teamId) => (await notices(teamId)).map(({ kind, phase }) => `${kind} ${phase}`);

  const notice = (changes: Partial<NewNotice> = {}): NewNotice => ({
    teamId: mine.teamId,
    kind: 'job.failed',
    phase: 'info',
    severity: 'warning',
    key: 'router:r:jobs',
    recordId: newId(START),
    version: 1,
    at: START,
    ...changes,
  });

  test('a team in which no group listens stores none, and another team is not asked', async () => {
    const other = await seedRouter(storage);
    await followKinds(storage, other.teamId, ['*']);
    await followKinds(storage, mine.teamId, ['fault.*']);
    await write((tx) => insertNotices(tx, [notice(), notice({ kind: 'fault.wan_down' })], START));
    expect(await kinds()).toEqual(['fault.wan_down info']);
    expect(await kinds(other.teamId)).toEqual([]);
  });

  test('a topic that no group follows is nobody who listens', async () => {
    await storage.db
      .insertInto('topics')
      .values({ id: newId(START), team_id: mine.teamId, name: 'all', events: '["*"]', created_at: 1, updated_at: 1 })
      .execute();
    await write((tx) => insertNotices(tx, [notice()], START));
    expect(await kinds()).toEqual([]);
  });

  test('the end of what was heard is stored when no group follows the kind any more', async () => {
    await followKinds(storage, mine.teamId, ['fault.*']);
    const fault = (recordId: string, phase: 'open' | 'resolve', version: number) =>
      notice({ kind: 'fault.wan_down', recordId, phase, version });
    await write((tx) => insertNotices(tx, [fault('heard', 'open', 2)], START));
    await storage.db.deleteFrom('topics').execute();
    const later = [fault('heard', 'resolve', 3), fault('unheard', 'resolve', 3), fault('new', 'open', 2), fault('heard', 'open', 4)];
    await write((tx) => insertNotices(tx, later, START + 1));
    expect((await notices()).map(({ record_id: id, phase }) => `${id} ${phase}`)).toEqual(['heard open', 'heard resolve']);
  });

  test('a fact that is rolled back leaves no notice', async () => {
    await followKinds(storage, mine.teamId, ['*']);
    const failed = write(async (tx) => {
      await insertNotices(tx, [notice()], START);
      throw new AppError('conflict', 'rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');
    expect(await kinds()).toEqual([]);
  });

  test('long and unstorable texts are cut', async () => {
    await followKinds(storage, mine.teamId, ['*']);
    await write((tx) => insertNotices(tx, [notice({ data: { reason: `\0${'x'.repeat(1000)}` } })], START));
    const [stored] = await notices();
    expect(stored!.data['reason']).toBe(`\uFFFD${'x'.repeat(299)}`);
  });

  test('changes of a record that has no number of its own follow each other, also in one millisecond and after the clock was set back', async () => {
    await followKinds(storage, mine.teamId, ['*']);
    const change = notice({ kind: 'campaign.paused', recordId: 'c', version: 'next' });
    for (const now of [START, START, START - 60 * SECOND, START + SECOND]) await write((tx) => insertNotices(tx, [change], now));
    const versions = (await notices()).map(({ version }) => version).toSorted((one, other) => one - other);
    expect(versions).toEqual([START, START + 1, START + 2, START + SECOND]);
  });

  test('old ones are deleted in steps, of all teams; a withdrawn record loses only its own', async () => {
    await followKinds(storage, mine.teamId, ['*']);
    const kept = notice();
    const withdrawn = notice();
    await write((tx) => insertNotices(tx, [notice(), notice(), notice()], START));
    await route();
    await write((tx) => insertNotices(tx, [kept, withdrawn], START + 10 * SECOND));
    await write((tx) => withdrawNotices(tx, { teamId: newId(1), recordId: withdrawn.recordId }));
    expect(await notices()).toHaveLength(5);
    await write((tx) => withdrawNotices(tx, { teamId: mine.teamId, recordId: withdrawn.recordId }));
    expect(await write((tx) => deleteNoticesBefore(tx, START + SECOND, 2))).toBe(2);
    clock.advance(30 * 24 * 3600 * SECOND + SECOND);
    await new NotificationRetention({ storage, clock, keepMs: 30 * 24 * 3600 * SECOND }).sweep();
    expect((await notices()).map(({ record_id: id }) => id)).toEqual([kept.recordId]);
  });

  test('what no group has heard of yet stays, however old: the control plane may have been away for longer than notices are kept', async () => {
    await followKinds(storage, mine.teamId, ['*']);
    const waiting = notice();
    const retention = new NotificationRetention({ storage, clock, keepMs: 30 * 24 * 3600 * SECOND });
    await write((tx) => insertNotices(tx, [waiting], START));
    await route();
    await write((tx) => insertNotices(tx, [waiting], START + SECOND));
    clock.advance(60 * 24 * 3600 * SECOND);
    await retention.sweep();
    expect((await notices()).map(({ stored_at: at }) => at)).toEqual([START + SECOND]);
    await route();
    await retention.sweep();
    expect(await notices()).toEqual([]);
  });

  async function benchOf(routers: readonly SeededRouter[]): Promise<FaultsBench> {
    const service = new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 75_000 } });
    const rules = { heartbeatMs: 30 * SECOND, offlineAfterMs: 75 * SECOND };
    const faults = new FaultsBench({ storage, clock, log: silentLog, rules, routers: service });
    await faults.start();
    await faults.onReady(connection);
    for (const { routerId } of routers) faults.onInventory(connection, await service.getRouter(mine.teamId, routerId));
    return faults;
  }

  const heartbeat = (faults: FaultsBench, routers: readonly SeededRouter[], reachable = true): void =>
    faults.onHeartbeat(connection, {
      type: 'heartbeat',
      routers: routers.map(({ routerId }) => ({ name: `router ${routerId}`, reachable, uptime_seconds: null, reason: null })),
    });
  let connection: { agentId: string; teamId: string; epoch: number; address: string; reset: boolean };
  beforeEach(() => {
    connection = { agentId: mine.agentId, teamId: mine.teamId, epoch: 1, address: '198.51.100.7', reset: false };
  });

  test('an agent with 500 routers that goes and comes is one notice each time, and a fault of each router', async () => {
    await followKinds(storage, mine.teamId, ['*']);
    const routers = [mine];
    for (let n = 1; n < 500; n += 1) routers.push(await seedRouter(storage, { teamId: mine.teamId, agentId: mine.agentId }));
    const faults = await benchOf(routers);
    heartbeat(faults, routers);
    faults.onGone(connection);
    clock.advance(3 * 60 * SECOND);
    await faults.stored();
    expect(await notices()).toMatchObject([
      { kind: 'fault.agent_offline', phase: 'open', key: `agent:${mine.agentId}`, agent_id: mine.agentId, data: { routers: 500 } },
    ]);
    const openFaults = await storage.db.selectFrom('faults').select('router_id').where('resolved_at', 'is', null).execute();
    expect(new Set(openFaults.map(({ router_id: id }) => id)).size).toBe(500);
    await faults.onReady(connection);
    heartbeat(faults, routers);
    await faults.stored();
    expect(await kinds()).toEqual(['fault.agent_offline open', 'fault.agent_offline resolve']);
    // Again within a quarter of an hour: the same records open again.
    faults.onGone(connection);
    clock.advance(3 * 60 * SECOND);
    await faults.stored();
    expect(await kinds()).toHaveLength(3);
    const all = await storage.db.selectFrom('faults').select(['occurrences', 'resolved_at']).execute();
    expect(all).toHaveLength(500);
    expect(all.every(({ occurrences, resolved_at: end }) => occurrences === 2 && end === null)).toBe(true);
    await faults.stop();
  });

  test('an agent that is back and reports its routers one by one is told once', async () => {
    await followKinds(storage, mine.teamId, ['*']);
    const routers = [mine];
    for (let n = 1; n < 5; n += 1) routers.push(await seedRouter(storage, { teamId: mine.teamId, agentId: mine.agentId }));
    const faults = await benchOf(routers);
    heartbeat(faults, routers);
    faults.onGone(connection);
    clock.advance(3 * 60 * SECOND);
    await faults.stored();
    await faults.onReady(connection);
    for (const router of routers) {
      heartbeat(faults, [router]);
      await faults.stored();
    }
    expect(await kinds()).toEqual(['fault.agent_offline open', 'fault.agent_offline resolve']);
    await faults.stop();
  });

  test('a router that another agent takes over ends nothing that was told of its former agent, which is still away', async () => {
    await followKinds(storage, mine.teamId, ['*']);
    const routers = [mine, await seedRouter(storage, { teamId: mine.teamId, agentId: mine.agentId })];
    const other = await seedRouter(storage, { teamId: mine.teamId });
    const faults = await benchOf(routers);
    heartbeat(faults, routers);
    faults.onGone(connection);
    clock.advance(3 * 60 * SECOND);
    await faults.stored();
    await storage.db.updateTable('routers').set({ agent_id: other.agentId }).where('id', '=', mine.routerId).execute();
    const moved = (await storage.db.selectFrom('routers').selectAll().where('id', '=', mine.routerId).executeTakeFirstOrThrow()) as never;
    const there = { ...connection, agentId: other.agentId };
    await faults.onReady(there);
    faults.onInventory(there, moved);
    const name = `router ${mine.routerId}`;
    faults.onHeartbeat(there, { type: 'heartbeat', routers: [{ name, reachable: true, uptime_seconds: null, reason: null }] });
    await faults.stored();
    const open = await storage.db.selectFrom('faults').select('router_id').where('resolved_at', 'is', null).execute();
    expect(open.map(({ router_id: id }) => id)).toEqual([routers[1]!.routerId]);
    expect(await kinds()).toEqual(['fault.agent_offline open']);
    await faults.stop();
  });

  test('one more router behind an agent that is away is told, also when the first part of its routers is no news', async () => {
    await followKinds(storage, mine.teamId, ['*']);
    const routers = [mine];
    for (let n = 1; n < 501; n += 1) routers.push(await seedRouter(storage, { teamId: mine.teamId, agentId: mine.agentId }));
    const changes = new Changes({ storage, clock, log: silentLog });
    const finding = { message: 'The agent is away.', causes: SOME_CAUSES };
    const lose = (some: readonly SeededRouter[]) => {
      for (const { routerId } of some)
        changes.add({ teamId: mine.teamId, agentId: mine.agentId, routerId }, [
          { kind: 'open', type: 'agent_offline', at: START, finding },
        ]);
      return changes.stored();
    };
    await lose(routers.slice(0, 500));
    await lose(routers);
    expect(await kinds()).toEqual(['fault.agent_offline open', 'fault.agent_offline open']);
    await lose(routers);
    expect(await kinds()).toHaveLength(2);
  });

  test('a router that goes and comes is told with its record', async () => {
    await followKinds(storage, mine.teamId, ['fault.router_offline']);
    const faults = await benchOf([mine]);
    heartbeat(faults, [mine]);
    for (let turn = 0; turn < 6; turn += 1) {
      heartbeat(faults, [mine], false);
      clock.advance(30 * SECOND);
    }
    heartbeat(faults, [mine]);
    await faults.stop();
    const [opened, resolved, ...others] = await notices();
    expect(others).toEqual([]);
    expect(opened).toMatchObject({ phase: 'open', severity: 'critical', key: `router:${mine.routerId}:router_offline`, version: 2 });
    expect(resolved).toMatchObject({ phase: 'resolve', record_id: opened!.record_id, version: 3 });
    // For messages in other languages, beside the English words.
    const causes = [{ code: 'no_answer', reason: 'unknown', said: expect.any(String) as string }];
    for (const notice of [opened, resolved]) expect(notice!.data).toMatchObject({ cause: expect.any(String) as string, causes });
  });

  test('what comes back within a quarter of an hour is the same record, and its notice says when it came back', async () => {
    await followKinds(storage, mine.teamId, ['fault.*']);
    const changes = new Changes({ storage, clock, log: silentLog });
    const finding = { message: 'The router is offline', causes: SOME_CAUSES };
    const change = async (kind: 'open' | 'resolve', type: 'router_offline' | 'rebooted', minute: number): Promise<void> => {
      const at = START + minute * 60 * SECOND;
      changes.add({ teamId: mine.teamId, agentId: mine.agentId, routerId: mine.routerId }, [
        kind === 'open' ? { kind, type, at, finding } : { kind, type, at },
      ]);
      await changes.stored();
      clock.advance(1);
    };
    await change('open', 'router_offline', 0);
    await change('resolve', 'router_offline', 3);
    await change('open', 'router_offline', 12);
    await change('resolve', 'router_offline', 17);
    await change('open', 'rebooted', 20);
    await change('resolve', 'rebooted', 20);
    await change('open', 'rebooted', 25);
    expect((await notices()).map(({ kind, phase, at }) => [kind, phase, (at - START) / (60 * SECOND)])).toEqual([
      ['fault.router_offline', 'open', 0],
      ['fault.router_offline', 'resolve', 3],
      ['fault.router_offline', 'open', 12],
      ['fault.router_offline', 'resolve', 17],
      ['fault.rebooted', 'info', 20],
      ['fault.rebooted', 'info', 25],
    ]);
    expect(new Set((await notices()).map(({ record_id: id }) => id)).size).toBe(2);
  });

  test('a router that is removed ends what was told of it, and of an agent that nobody can see any more', async () => {
    await followKinds(storage, mine.teamId, ['*']);
    const faults = await benchOf([mine]);
    heartbeat(faults, [mine]);
    faults.onGone(connection);
    clock.advance(3 * 60 * SECOND);
    await faults.stop();
    await write((tx) => resolveAllOf(tx, { teamId: mine.teamId, routerId: mine.routerId, now: clock.now() }));
    expect(await kinds()).toEqual(['fault.agent_offline open', 'fault.agent_offline resolve']);
  });

  test('the end of a job is told once, without its script and output', async () => {
    await followKinds(storage, mine.teamId, ['job.*']);
    const reporter = { teamId: mine.teamId, agentId: mine.agentId, epoch: 0 };
    const create = (needsAcknowledgement: boolean, expiresAt = START + 1000) => {
      const texts = { token: 't', requestId: 'r', idempotencyKey: newId(START), description: 'd', script: ':put "a secret"' };
      const flags = { expressExecute: false, needsAcknowledgement, makeBackup: false };
      const rest = { id: newId(START), teamId: mine.teamId, routerId: mine.routerId, siteId: null, notifyUrl: null };
      return write((tx) => insertJob(tx, { ...rest, ...texts, ...flags, timeoutMs: 1000, now: START, expiresAt }));
    };
    const accept = (jobId: string) => write((tx) => acceptJob(tx, reporter, { jobId, now: START + 1, graceMs: 1, backupMs: 1 }));
    const result = { outcome: 'failed', reason: 'script_error', error: 'secret', output: null, output_truncated: false } as const;
    const failed = await create(true);
    await accept(failed.id);
    for (let n = 0; n < 2; n += 1) await write((tx) => endJob(tx, reporter, { jobId: failed.id, result, now: START + 2 + n }));
    const unwatched = await create(false);
    await accept(unwatched.id);
    await write((tx) => endJob(tx, reporter, { jobId: unwatched.id, result: { ...result, outcome: 'completed' }, now: START + 5 }));
    await create(true, START + 10);
    await write((tx) => expireJobs(tx, START + 20, 10));
    expect(await kinds()).toEqual(['job.failed info', 'job.completed info', 'job.expired info']);
    expect(JSON.stringify(await notices())).not.toContain('secret');
  });

  test('an agent that is revoked is told once', async () => {
    await followKinds(storage, mine.teamId, ['agent.revoked']);
    const credentials = new CredentialsService({ storage, clock, log: silentLog });
    for (let n = 0; n < 2; n += 1) await credentials.revokeAgent(mine.teamId, mine.agentId, { disconnect: () => undefined });
    expect(await kinds()).toEqual(['agent.revoked info']);
  });
});
