import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../server/platform/core/ids.ts';
import { JobRetention } from '../../server/work/jobs/retention/retention.ts';
import { FIRST_ROWS } from '../../server/platform/core/removal-batches.ts';
import type { JobRecord } from '../../server/work/jobs/types.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { insertJob } from '../harness/jobs/insert-job.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';
import { waitUntil } from '../harness/wait-until.ts';

const HOUR = 3600_000;
const DAY = 24 * HOUR;
const NOW = 1_900_000_000_000;
const KEEP = 400 * DAY;
const LONG_AGO = NOW - KEEP - DAY;
const LATELY = NOW - KEEP + DAY;

type Change = Partial<
  Pick<JobRecord, 'phase' | 'completed_at' | 'failed_at' | 'deleted_at' | 'reason' | 'overdue_at' | 'agent_id' | 'notified_version'>
>;

/** How jobs end. */
const ENDS: [string, Change][] = [
  ['completed', { phase: 'done', completed_at: LONG_AGO }],
  ['failed', { phase: 'done', failed_at: LONG_AGO, reason: 'rolled_back' }],
  ['expired', { phase: 'expired', failed_at: LONG_AGO }],
  ['unknown', { phase: 'unknown', failed_at: LONG_AGO, reason: 'timed_out' }],
  ['canceled', { phase: 'canceled', deleted_at: LONG_AGO }],
  ['completed without acknowledgement, the rest unknown', { phase: 'unknown', completed_at: LONG_AGO }],
  ['completed, and marked as deleted', { phase: 'done', completed_at: LONG_AGO, deleted_at: LONG_AGO }],
];

describeEachDatabase('old jobs', (open) => {
  let storage: Storage;
  let router: SeededRouter;
  let clock: ManualClock;
  let retention: JobRetention;

  beforeAll(async () => {
    storage = await open();
    router = await seedRouter(storage);
  });
  afterEach(async () => {
    for (const table of ['campaign_targets', 'campaigns', 'jobs'] as const) await storage.db.deleteFrom(table).execute();
  });
  beforeEach(() => {
    clock = new ManualClock(NOW);
    retention = new JobRetention({ storage, clock, log: silentLog, keepMs: KEEP });
  });

  async function create(change: Change, options: { at?: number; notifyUrl?: string; key?: string } = {}): Promise<string> {
    const { at = LONG_AGO, notifyUrl = null, key = 'k' } = options;
    const id = newId(at);
    await storage.writes.write((tx) =>
      insertJob(tx, {
        id,
        teamId: router.teamId,
        routerId: router.routerId,
        siteId: null,
        token: 't',
        requestId: 'r',
        idempotencyKey: key,
        description: 'd',
        script: ':put 1',
        expressExecute: false,
        needsAcknowledgement: true,
        makeBackup: false,
        notifyUrl,
        timeoutMs: 300_000,
        now: at,
        expiresAt: at + 7 * DAY,
      }),
    );
    await storage.db.updateTable('jobs').set(change).where('id', '=', id).execute();
    return id;
  }

  const kept = async (): Promise<string[]> =>
    (await storage.db.selectFrom('jobs').select('id').orderBy('id').execute()).map(({ id }) => id);
  const settleEvents = () => storage.db.updateTable('job_events').set({ state: 'delivered', due_at: null, settled_at: LONG_AGO }).execute();

  test.each(ENDS)('are deleted when they have %s', async (_end, change) => {
    await create(change);
    await retention.sweep();
    expect(await kept()).toEqual([]);
  });

  test('are deleted with their events', async () => {
    const id = await create({ phase: 'done', completed_at: LONG_AGO }, { notifyUrl: 'https://hooks.example.com/' });
    await settleEvents();
    const { id: eventId } = await storage.db.selectFrom('job_events').select('id').where('job_id', '=', id).executeTakeFirstOrThrow();
    const attempt = {
      id: newId(LONG_AGO),
      team_id: router.teamId,
      event_id: eventId,
      at: LONG_AGO,
      duration_ms: 1,
      status: 200,
      error: null,
    };
    await storage.db.insertInto('job_event_attempts').values(attempt).execute();
    await retention.sweep();
    expect(await kept()).toEqual([]);
    expect(await storage.db.selectFrom('job_events').select('id').execute()).toEqual([]);
    expect(await storage.db.selectFrom('job_event_attempts').select('id').execute()).toEqual([]);
  });

  describe('are kept', () => {
    test.each<[string, Change]>([
      ['it waits', { phase: 'queued' }],
      ['its agent has it', { phase: 'accepted', agent_id: 'a', overdue_at: LONG_AGO }],
      ['its agent has it and nobody waits for the result', { phase: 'accepted', completed_at: LONG_AGO }],
      ['it runs', { phase: 'running', overdue_at: LONG_AGO }],
      ['it has ended lately', { phase: 'done', completed_at: LATELY }],
      ['it was given up lately', { phase: 'unknown', failed_at: LATELY }],
      ['a late result has come lately', { phase: 'done', failed_at: LONG_AGO, completed_at: LATELY }],
      ['it was deleted lately', { phase: 'done', completed_at: LONG_AGO, deleted_at: LATELY }],
    ])('when %s', async (_why, change) => {
      const id = await create(change);
      await retention.sweep();
      expect(await kept()).toEqual([id]);
    });

    test.each(ENDS)('for the configured time when they have %s', async (_end, change) => {
      const until = Object.fromEntries(
        Object.entries(change).map(([name, value]) => [name, value === LONG_AGO ? NOW - KEEP : value]),
      ) as Change;
      const id = await create(until, { at: NOW - KEEP - 1 });
      await retention.sweep();
      expect(await kept()).toEqual([id]);
      clock.advance(1);
      await retention.sweep();
      expect(await kept()).toEqual([]);
    });

    test.each(['pending', 'resending'])('while one of their events is %s', async (state) => {
      const id = await create({ phase: 'done', completed_at: LONG_AGO }, { notifyUrl: 'https://hooks.example.com/' });
      await storage.db.updateTable('job_events').set({ state, due_at: LONG_AGO }).execute();
      await retention.sweep();
      expect(await kept()).toEqual([id]);
      await settleEvents();
      await retention.sweep();
      expect(await kept()).toEqual([]);
    });

    test('while the event of their end is not stored', async () => {
      const id = await create({ phase: 'done', completed_at: LONG_AGO, notified_version: 0 }, { notifyUrl: 'https://hooks.example.com/' });
      await settleEvents();
      await retention.sweep();
      expect(await kept()).toEqual([id]);
    });

    test('as long as their backup is kept', async () => {
      const id = await create({ phase: 'done', completed_at: LONG_AGO });
      const backup = {
        id: newId(LONG_AGO),
        team_id: router.teamId,
        router_id: router.routerId,
        job_id: id,
        state: 'stored',
        attempts: 1,
        due_at: null,
        error: null,
        created_at: LONG_AGO,
        stored_at: LONG_AGO,
      };
      await storage.db.insertInto('backups').values(backup).execute();
      await retention.sweep();
      expect(await kept()).toEqual([id]);
      await storage.db.deleteFrom('backups').execute();
      await retention.sweep();
      expect(await kept()).toEqual([]);
    });

    test('while their campaign runs; then the campaign keeps the result of the router', async () => {
      const campaignId = newId(LONG_AGO);
      const id = await create({ phase: 'done', failed_at: LONG_AGO }, { key: `campaign ${campaignId} ${router.routerId}` });
      await storage.db.insertInto('campaigns').values(campaignRow(router.teamId, campaignId)).execute();
      const target = {
        campaign_id: campaignId,
        team_id: router.teamId,
        router_id: router.routerId,
        position: 0,
        canary: 1 as const,
        status: 'failed',
        job_id: id,
        job_version: 3,
        reason: 'script_error',
        output_hash: 'x',
        claimed_at: LONG_AGO,
        settled_at: LONG_AGO,
      };
      await storage.db.insertInto('campaign_targets').values(target).execute();
      await retention.sweep();
      expect(await kept()).toEqual([id]);
      await storage.db.updateTable('campaigns').set({ finished_at: LONG_AGO }).execute();
      await retention.sweep();
      expect(await kept()).toEqual([]);
      expect(await storage.db.selectFrom('campaign_targets').selectAll().execute()).toEqual([{ ...target, job_id: null }]);
    });
  });

  test('are deleted in small steps, past those that stay', async () => {
    const stay = new Set<string>();
    for (let count = 0; count < 330; count += 1) {
      const stays = count % 3 === 0;
      const id = await create(stays ? { phase: 'running' } : { phase: 'done', completed_at: LONG_AGO }, { at: LONG_AGO + count });
      if (stays) stay.add(id);
    }
    const sizes: number[] = [];
    let before = 330;
    const writes = {
      write: async <T>(work: Parameters<typeof storage.writes.write<T>>[0]): Promise<T> => {
        const answer = await storage.writes.write(work);
        const left = (await kept()).length;
        sizes.push(before - left);
        before = left;
        return answer;
      },
    };
    await new JobRetention({ storage: { ...storage, db: storage.db, writes }, clock, log: silentLog, keepMs: KEEP }).sweep();
    expect(new Set(await kept())).toEqual(stay);
    // A quick step looks at twice as many rows as the one before, those that stay included.
    for (const [step, size] of sizes.entries()) expect(size).toBeLessThanOrEqual(FIRST_ROWS * 2 ** step);
    expect(sizes.length).toBeGreaterThanOrEqual(4);
  });

  test('are swept every hour until the stop, also after a database outage', async () => {
    let isAway = true;
    const write: Storage['writes']['write'] = (work) => (isAway ? Promise.reject(new Error('away')) : storage.writes.write(work));
    const hourly = new JobRetention({ storage: { ...storage, db: storage.db, writes: { write } }, clock, log: silentLog, keepMs: KEEP });
    const id = await create({ phase: 'done', completed_at: LONG_AGO });
    hourly.start();
    expect(clock.pending).toBe(1);
    clock.advance(HOUR);
    await waitUntil('it has failed and waits again', () => clock.pending === 1);
    expect(await kept()).toEqual([id]);
    isAway = false;
    clock.advance(HOUR);
    await waitUntil('it is gone', async () => (await kept()).length === 0);
    await hourly.stop();
    expect(clock.pending).toBe(0);
  });
});

function campaignRow(teamId: string, id: string) {
  return {
    id,
    team_id: teamId,
    request_id: 'r',
    idempotency_key: 'k',
    created_by: 'me',
    description: 'd',
    script: ':put 1',
    express_execute: 0 as const,
    needs_acknowledgement: 1 as const,
    make_backup: 0 as const,
    notify_url: null,
    timeout_seconds: null,
    undo_seconds: null,
    deliver_within_minutes: 60,
    canary_count: 1,
    rate_per_minute: null,
    most_at_once: 1,
    abort_after_failures: null,
    abort_at_percent: null,
    target_count: 1,
    state: 'running',
    next_start_at: 0,
    created_at: LONG_AGO,
  };
}
