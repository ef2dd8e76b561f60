import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { momentNow, momentOfMark } from '../../agent/jobs/boot.ts';
import { atBootTime, sleep } from '../../agent/core/clock.ts';
import { CredentialsService } from '../../server/access/credentials/service.ts';
import { recordBackup, selectDue } from '../../server/work/backups/store.ts';
import { nextSteps } from '../../server/work/campaigns/steps.ts';
import { AdoptedClock } from '../../server/platform/core/adopted-clock.ts';
import { AppError, notFound } from '../../server/platform/core/errors.ts';
import { newId } from '../../server/platform/core/ids.ts';
import { StepWriter } from '../../server/platform/core/step-writer.ts';
import { TokenBucket } from '../../server/platform/core/token-bucket.ts';
import type { FaultEvent } from '../../server/fleet/faults/types.ts';
import { FORWARD_LIMITS } from '../../server/work/forwards/limits.ts';
import { LiveForward } from '../../server/work/forwards/live-forward.ts';
import { PORT_QUARANTINE_MS, choosePort } from '../../server/work/forwards/entry/ports.ts';
import { closeForward, insertForward, selectPortUses } from '../../server/work/forwards/store.ts';
import { SlidingWindow } from '../../server/platform/core/sliding-window.ts';
import { IdempotencyStore } from '../../server/platform/idempotency/store.ts';
import { guardOf } from '../../server/work/jobs/guard.ts';
import { expireJobs, giveUpOverdue, noteGuard } from '../../server/work/jobs/hand-over/store.ts';
import { JobRetention } from '../../server/work/jobs/retention/retention.ts';
import type { JobRecord } from '../../server/work/jobs/types.ts';
import { TERMINAL_LIMITS } from '../../server/work/terminals/limits.ts';
import { LiveTerminal } from '../../server/work/terminals/live/live-terminal.ts';
import type { Recorder } from '../../server/work/terminals/recording/recorder.ts';
import { TerminalsService } from '../../server/work/terminals/service.ts';
import type { TerminalsDeps } from '../../server/work/terminals/service.ts';
import type { Opener } from '../../server/work/terminals/types.ts';
import { selectDue as selectDueRevocations } from '../../server/access/revocations/store.ts';
import { RoutersService } from '../../server/fleet/routers/service.ts';
import { selectSessions, upsertSessions } from '../../server/fleet/sessions/store.ts';
import { selectOpenStates, upsertStates } from '../../server/fleet/states/store.ts';
import type { Storage } from '../../server/platform/storage/db.ts';
import { movePlans } from '../../server/platform/storage/move-plans.ts';
import { Secrets } from '../../server/platform/storage/secrets.ts';
import { FailedDials } from '../../server/platform/tunnel/failed-dials.ts';
import { stopBucket, takeFrom } from '../../server/outbound/notifications/messages/buckets/store.ts';
import { selectDueMessages } from '../../server/outbound/notifications/messages/sending/store.ts';
import { AddressProofs } from '../../server/outbound/notifications/proofs/service.ts';
import { takeTry } from '../../server/outbound/notifications/proofs/store.ts';
import { claimReader, settleReader } from '../../server/outbound/notifications/telegram/reading/store.ts';
import type { ClaimedReader } from '../../server/outbound/notifications/telegram/reading/store.ts';
import { insertLink, insertReader, selectLink } from '../../server/outbound/notifications/telegram/store.ts';
import { LINK } from '../../server/outbound/notifications/telegram/types.ts';
import { newThread } from '../../server/outbound/notifications/threads/new-thread.ts';
import { selectDue as selectDueThreads } from '../../server/outbound/notifications/threads/telling/store.ts';
import { claimEvents, selectDueEvents } from '../../server/outbound/webhooks/store.ts';
import { describeEachDatabase } from '../harness/databases.ts';
import { FaultsBench } from '../harness/faults-bench.ts';
import { insertJob } from '../harness/jobs/insert-job.ts';
import { acceptJob } from '../harness/jobs/transitions.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { followKinds } from '../harness/notifications.ts';
import { seedPerson } from '../harness/notify-bench.ts';
import { seedRouter } from '../harness/seed.ts';
import type { SeededRouter } from '../harness/seed.ts';
import { silentLog } from '../harness/silent-log.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [SECOND, -SECOND, 2 * HOUR, -2 * HOUR, DAY, -DAY];

/** A machine whose clock is set once, in the middle of a wait. */
class Run {
  readonly machine = new ManualClock();
  /** As the control plane goes by it. */
  readonly clock = new AdoptedClock(this.machine);
  readonly storage: Storage;
  readonly place: SeededRouter;
  readonly #stepMs: number;

  constructor(storage: Storage, place: SeededRouter, stepMs: number) {
    this.storage = storage;
    this.place = place;
    this.#stepMs = stepMs;
  }

  /** Elapsed milliseconds, in steps of `everyMs`, until it is so. The clock is set after the first of them. */
  async until(everyMs: number, isSo: () => Promise<boolean> | boolean): Promise<number> {
    const begin = this.machine.monotonic();
    for (let turn = 0; turn < 400; turn += 1) {
      if (await isSo()) return this.machine.monotonic() - begin;
      this.machine.advance(everyMs);
      if (turn === 0) this.machine.step(this.#stepMs);
      await this.clock.adopt((stepMs, now) => this.storage.writes.write((tx) => movePlans(tx, stepMs, now)));
    }
    throw new Error(`not within ${(400 * everyMs) / SECOND} s`);
  }

  /** Elapsed milliseconds until something calls back. */
  untilCalled(everyMs: number, begin: (callback: () => void) => void): Promise<number> {
    let called = false;
    begin(() => (called = true));
    return this.until(everyMs, () => called);
  }

  get reporter() {
    return { teamId: this.place.teamId, agentId: this.place.agentId, epoch: 0 };
  }

  get connection() {
    return { ...this.reporter, address: '::1', reset: false };
  }

  /** A thread, and a message of it. */
  async threadDueIn(ms: number): Promise<void> {
    const { teamId } = this.place;
    const now = this.clock.now();
    const groupId = await followKinds(this.storage, teamId, ['*'], now);
    const thread = {
      ...newThread({ id: newId(now), teamId, groupId, key: 'k', kind: 'fault.high_cpu', now }),
      flush_at: now + ms,
      escalate_at: now + ms,
      acknowledged_until: now + ms,
    };
    await this.storage.db.insertInto('threads').values(thread).execute();
    const message = {
      id: newId(now),
      team_id: teamId,
      thread_id: thread.id,
      group_id: groupId,
      recipient_type: 'person',
      recipient_id: 'u',
      channel: 'email',
      revision: 1,
    };
    const rest = { kind: 'open', state: 'pending', bucket: 'email', attempts: 0, due_at: now + ms, created_at: now };
    await this.storage.db
      .insertInto('messages')
      .values({ ...message, ...rest })
      .execute();
  }

  async job(wanted: { notifyUrl?: string; expiresInMs?: number; undoSeconds?: number } = {}): Promise<JobRecord> {
    const now = this.clock.now();
    const { teamId, routerId } = this.place;
    return this.storage.writes.write((tx) =>
      insertJob(tx, {
        id: newId(now),
        teamId,
        routerId,
        siteId: null,
        token: 't',
        requestId: 'r',
        idempotencyKey: newId(now),
        description: 'd',
        script: ':put 1',
        expressExecute: false,
        needsAcknowledgement: true,
        makeBackup: true,
        notifyUrl: wanted.notifyUrl ?? null,
        undoSeconds: wanted.undoSeconds ?? null,
        timeoutMs: 5 * MINUTE,
        now,
        expiresAt: now + (wanted.expiresInMs ?? DAY),
      }),
    );
  }

  phaseOf = async ({ id }: JobRecord): Promise<string> =>
    (await this.storage.db.selectFrom('jobs').select('phase').where('id', '=', id).executeTakeFirstOrThrow()).phase;

  /** An update of a new job. */
  async jobEvent(): Promise<string> {
    const { id } = await this.job({ notifyUrl: 'http://127.0.0.1:1/' });
    return (await this.storage.db.selectFrom('job_events').select('id').where('job_id', '=', id).executeTakeFirstOrThrow()).id;
  }

  dueEvents = () => selectDueEvents(this.storage.db, { teamId: this.place.teamId, now: this.clock.now(), busyOrigins: [], limit: 9 });
}

/** Elapsed milliseconds until what the row is about happens. */
type Scenario = (run: Run) => Promise<number>;

const SERVER: Record<string, Scenario> = {
  'rate limits': (run) => {
    const window = new SlidingWindow(MINUTE, () => run.clock.monotonic());
    for (let count = 0; count < 60; count += 1) window.take('key', 60);
    return run.until(SECOND, () => window.take('key', 60).current <= 60);
  },
  'block after wrong agent credentials': (run) => {
    const dials = new FailedDials(() => run.clock.monotonic());
    for (let count = 0; count < 60; count += 1) dials.failed('198.51.100.7', 'agent');
    return run.until(SECOND, () => !dials.isBlocked('198.51.100.7', 'agent'));
  },
  'budgets of agents': (run) => {
    const bucket = new TokenBucket({ perSecond: 1, burst: 10 }, run.clock.monotonic());
    bucket.take(70, run.clock.monotonic());
    return run.until(SECOND, () => bucket.waitMs(run.clock.monotonic()) === 0);
  },
  timers: (run) => run.untilCalled(SECOND, (callback) => void run.clock.setTimeout(callback, MINUTE)),
  'retry of a job update': async (run) => {
    const id = await run.jobEvent();
    await run.storage.db
      .updateTable('job_events')
      .set({ due_at: run.clock.now() + 3 * HOUR })
      .where('id', '=', id)
      .execute();
    return run.until(10 * MINUTE, async () => (await run.dueEvents()).length === 1);
  },
  'claim of a job update by a process that died': async (run) => {
    const id = await run.jobEvent();
    const now = run.clock.now();
    await run.storage.writes.write((tx) => claimEvents(tx, { ids: [id], claim: 'dead', now, until: now + MINUTE }));
    return run.until(SECOND, async () => (await run.dueEvents()).length === 1);
  },
  'notification: wait before it is told': async (run) => {
    await run.threadDueIn(3 * HOUR);
    return run.until(10 * MINUTE, async () => {
      const now = run.clock.now();
      const due = await selectDueThreads(run.storage.db, run.place.teamId, now, { limit: 1, mostOfGroup: 1 });
      return due.some(({ escalate_at: escalate, acknowledged_until: until }) => escalate! <= now && until! <= now);
    });
  },
  'notification: retry': async (run) => {
    await run.threadDueIn(3 * HOUR);
    const { teamId } = run.place;
    return run.until(10 * MINUTE, async () => {
      const query = { teamId, now: run.clock.now(), busyServers: [], limit: 1 };
      return (await selectDueMessages(run.storage.db, query)).length === 1;
    });
  },
  'code that proves an address: its end': async (run) => {
    const { owner, issue } = proofsOf(run);
    await issue();
    return run.until(MINUTE, async () => (await takeTry(run.storage.db, owner, { now: run.clock.now(), tries: 1000 })) === undefined);
  },
  'code that proves an address: pause before the next, and its other limits': async (run) => {
    const { issue } = proofsOf(run);
    await issue();
    return run.until(10 * SECOND, async () => {
      const refusal = await issue().catch((error: unknown) => error);
      return !(refusal instanceof AppError && refusal.code === 'rate_limited');
    });
  },
  'link that proves a Telegram chat: its end': async (run) => {
    const { owner, id } = await telegramLink(run);
    return run.until(MINUTE, async () => (await selectLink(run.storage.db, owner, id, run.clock.now()))?.state === 'ended');
  },
  'messages to the Telegram bot: pause after an error, and claim of a process that died': async (run) => {
    await telegramLink(run);
    const { db } = run.storage;
    const take = (): Promise<ClaimedReader | undefined> =>
      claimReader(db, { claim: 'c', now: run.clock.now(), until: run.clock.now() + MINUTE });
    // Runs before this one have left the only one there is.
    await db.updateTable('telegram_readers').set({ due_at: run.clock.now(), claimed_until: null }).execute();
    await take();
    const claimMs = await run.until(10 * SECOND, async () => (await take()) !== undefined);
    await settleReader(db, 'c', { dueAt: run.clock.now() + MINUTE, failures: 1, problem: 'unavailable' }, run.clock.now());
    return claimMs + (await run.until(10 * SECOND, async () => (await take()) !== undefined));
  },
  'pause that a provider of messages asked for': async (run) => {
    const rate = { perSecond: 1, burst: 1 };
    const take = (): Promise<{ granted: number }> => run.storage.writes.write((tx) => takeFrom(tx, 'email', rate, 1, run.clock.now()));
    await take();
    await run.storage.writes.write((tx) => stopBucket(tx, 'email', run.clock.now() + HOUR));
    return run.until(MINUTE, async () => (await take()).granted === 1);
  },
  'job: delivery': async (run) => {
    const job = await run.job({ expiresInMs: 3 * HOUR });
    return run.until(10 * MINUTE, async () => {
      await run.storage.writes.write((tx) => expireJobs(tx, run.clock.now(), 500));
      return (await run.phaseOf(job)) === 'expired';
    });
  },
  'job: result overdue': async (run) => {
    const job = await run.job();
    await run.storage.writes.write((tx) =>
      acceptJob(tx, run.reporter, { jobId: job.id, now: run.clock.now(), graceMs: MINUTE, backupMs: 0 }),
    );
    expect(await run.phaseOf(job)).toBe('accepted');
    return run.until(10 * SECOND, async () => {
      await run.storage.writes.write((tx) => giveUpOverdue(tx, run.clock.now(), 500));
      return (await run.phaseOf(job)) === 'unknown';
    });
  },
  'job: time until its undo guard fires, as shown': async (run) => {
    const job = await run.job({ undoSeconds: 3000 });
    await run.storage.writes.write(async (tx) => {
      const now = run.clock.now();
      await acceptJob(tx, run.reporter, { jobId: job.id, now, graceMs: DAY, backupMs: 0 });
      await noteGuard(tx, run.reporter, { jobId: job.id, state: 'armed', firesInMs: 50 * MINUTE, now });
    });
    return run.until(MINUTE, async () => {
      const row = await run.storage.db.selectFrom('jobs').selectAll().where('id', '=', job.id).executeTakeFirstOrThrow();
      return guardOf(row, run.clock.now())?.state === 'unknown';
    });
  },
  'fetch of a backup: retry and lease': async (run) => {
    const { id, team_id: teamId, router_id: routerId } = await run.job();
    const now = run.clock.now();
    await recordBackup(run.storage.db, { id, team_id: teamId, router_id: routerId }, { id: newId(now), now: now + HOUR });
    const due = () => selectDue(run.storage.db, { teamId, now: run.clock.now(), busyAgents: [], limit: 9 });
    return run.until(5 * MINUTE, async () => (await due()).length === 1);
  },
  'campaign: next router': async (run) => {
    const now = run.clock.now();
    const id = newId(now);
    await run.storage.db
      .insertInto('campaigns')
      .values({
        id,
        team_id: run.place.teamId,
        request_id: 'r',
        idempotency_key: id,
        created_by: 'k',
        created_via: null,
        description: 'd',
        script: 's',
        express_execute: 1,
        needs_acknowledgement: 1,
        make_backup: 0,
        notify_url: null,
        timeout_seconds: null,
        undo_seconds: null,
        deliver_within_minutes: 60,
        canary_count: 0,
        rate_per_minute: 1,
        most_at_once: 9,
        abort_after_failures: null,
        abort_at_percent: null,
        target_count: 9,
        state: 'running',
        stop_reason: null,
        stop_message: null,
        next_start_at: now + MINUTE,
        created_at: now,
        finished_at: null,
        final_counts: null,
      })
      .execute();
    const none = { waiting: 0, underWay: 0, completed: 0, failed: 0, canceled: 0 };
    return run.until(SECOND, async () => {
      const plan = await run.storage.db.selectFrom('campaigns').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
      return nextSteps(plan, { canaries: none, others: { ...none, waiting: 9 } }, run.clock.now())[0]?.kind === 'start';
    });
  },
  'what a revocation still has to end': async (run) => {
    const now = run.clock.now();
    const id = newId(now);
    await run.storage.db
      .insertInto('revocations')
      .values({
        id,
        team_id: run.place.teamId,
        kind: 'api_key',
        subject_id: 's',
        created_at: now,
        revoke_keys: 0,
        passes: 1,
        due_at: now + MINUTE,
        report: null,
      })
      .execute();
    return run.until(SECOND, async () => {
      const due = await selectDueRevocations(run.storage.db, run.place.teamId, run.clock.now(), run.clock.now() + 30 * DAY, 99);
      return due.some((revocation) => revocation.id === id);
    });
  },
  'Idempotency-Key kept for a day': async (run) => {
    const store = new IdempotencyStore(run.storage, new Secrets([{ kid: 'one', bytes: Buffer.alloc(32, 1) }]), () => run.clock.now());
    await store.claim({ teamId: run.place.teamId, scope: 'POST /things', key: 'k', caller: 'somebody' }, 'body', true);
    return run.until(HOUR, async () => {
      await store.sweep();
      const kept = await run.storage.db
        .selectFrom('idempotency_keys')
        .select('key')
        .where('team_id', '=', run.place.teamId)
        .executeTakeFirst();
      return kept === undefined;
    });
  },
  'port of a closed forward not given away': async (run) => {
    const now = run.clock.now();
    const { teamId, routerId } = run.place;
    const id = newId(now);
    const port = 20_000;
    await insertForward(run.storage.db, {
      id,
      team_id: teamId,
      router_id: routerId,
      port,
      allow_only_cidr: '198.51.100.7/32',
      dst_address: '10.0.0.1',
      dst_port: 80,
      entry_point: 'h',
      channel_token_hash: id,
      way: null,
      way_reason: null,
      target_reachable: null,
      created_by: 'k',
      created_via: null,
      idempotency_key: null,
      created_at: now,
      authorized_at: null,
      expires_at: now + HOUR,
      closed_at: null,
      revoked_at: null,
      refused_attempts: 0,
      idle_seconds: null,
      max_connections: null,
    });
    await run.storage.writes.write((tx) => closeForward(tx, { teamId, id }, now, 'revoked'));
    return run.until(10 * SECOND, async () => {
      const uses = (await selectPortUses(run.storage.db, run.clock.now() - PORT_QUARANTINE_MS)).filter((use) => use.teamId === teamId);
      const choice = choosePort({ range: { from: port, to: port }, uses, unusable: new Set(), teamId, isOnlyTeam: true });
      return choice.state === 'free';
    });
  },
  'router has a pulse': async (run) => {
    const routers = routersOf(run);
    await routers.onReady(run.connection);
    routers.onHeartbeat(run.connection, beatOf(run, true));
    expect(routers.presence.isAnswering(run.place.routerId)).toBe(true);
    return run.until(SECOND, () => !routers.presence.isAnswering(run.place.routerId));
  },
  'fault: the agent is offline': (run) =>
    untilFault(run, (faults) => {
      faults.onHeartbeat(run.connection, beatOf(run, true));
      faults.onGone(run.connection);
    }),
  'fault: the router is offline': (run) => untilFault(run, (faults) => faults.onHeartbeat(run.connection, beatOf(run, false))),
  'age of the state of a router and of an open session of an agent': async (run) => {
    const { storage, place, clock } = run;
    const now = clock.now();
    const of = { id: newId(now), team_id: place.teamId };
    await storage.writes.write(async (tx) => {
      await upsertStates(tx, [{ ...of, router_id: place.routerId, state: 'answering', reason: null, since: now, until: null }]);
      await upsertSessions(tx, [
        {
          ...of,
          agent_id: place.agentId,
          address: '::1',
          epoch: 1,
          opened_at: now,
          ready_at: now,
          closed_at: null,
          ended_by: null,
          agent_version: null,
          reset: 0,
          pings_answered: 0,
          pings_lost: 0,
          bytes_in: null,
          bytes_out: null,
          node_id: null,
          round_trip_min_us: null,
          round_trip_p50_us: null,
          round_trip_p95_us: null,
        },
      ]);
    });
    return run.until(MINUTE, async () => {
      const [state] = await selectOpenStates(storage.db);
      const [session] = await selectSessions(storage.db, place.teamId, place.agentId, { limit: 1, before: undefined });
      return [state!.since, session!.opened_at, session!.ready_at!].every((since) => clock.now() - since >= HOUR);
    });
  },
  'measurements: time until they are stored': (run) => {
    let isStored = false;
    const upsert = async (): Promise<void> => void (isStored = true);
    const steps = new StepWriter({ clock: run.clock, log: silentLog, kind: 'link_steps', newSums: () => 0, rowOf: () => ({}), upsert });
    steps.start();
    steps.sumsOf('agent');
    return run.until(10 * SECOND, async () => {
      // What a timer began goes on.
      await setImmediate();
      return isStored;
    });
  },
  'open forward: end': (run) => {
    const now = run.clock.now();
    return run.untilCalled(MINUTE, (onExpired) => {
      const live = new LiveForward({
        id: 'f',
        teamId: 't',
        routerId: 'r',
        terms: { allowOnlyCidr: '198.51.100.7/32', setAt: now, expiresAt: now + HOUR },
        maxConnections: 9,
        idleMs: null,
        clock: run.clock,
        limits: FORWARD_LIMITS,
        dial: () => false,
        onAgentChanged: () => undefined,
        onConnectionClosed: () => {},
        onRefused: () => {},
        onExpired,
      });
      live.startExpiry();
    });
  },
  'open terminal: end, whatever ends it': (run) => {
    const { agentId, routerId, teamId } = run.place;
    const nothing = (): void => undefined;
    const live = new LiveTerminal({
      id: newId(1),
      teamId,
      routerId,
      agentId,
      level: 'read',
      opener: { kind: 'api_key', id: 'k', teamId, source: '::1' },
      size: { cols: 80, rows: 24 },
      wasConnected: true,
      leftMs: TERMINAL_LIMITS.longestMs,
      recorder: { close: async () => undefined } as unknown as Recorder,
      clock: run.clock,
      limits: { ...TERMINAL_LIMITS, idleMs: DAY, keepMs: DAY },
      onResize: async () => undefined,
      onAway: nothing,
      onFull: nothing,
    });
    return run.until(5 * MINUTE, () => live.timeOver() !== undefined);
  },
  'terminal: sign-in of the last 15 minutes': async (run) => {
    const { teamId } = run.place;
    const routers = { getRouter: () => Promise.reject(notFound('router')) };
    // Of days, so that a step of a day is a part of it.
    const limits = { ...TERMINAL_LIMITS, freshSignInMs: 3 * DAY };
    const deps = { storage: run.storage, clock: run.clock, log: silentLog, routers, limits } as unknown as TerminalsDeps;
    const terminals = new TerminalsService(deps);
    const person: Opener = { kind: 'user', id: 'p', teamId, signedInAt: run.clock.now(), source: '::1' };
    const wanted = { level: 'read', reason: 'a look', cols: 80, rows: 24 } as const;
    return run.until(30 * MINUTE, async () => {
      const error = await terminals.open(person, 'r', wanted).catch((failure: unknown) => failure);
      return error instanceof AppError && error.extra?.['reason'] === 'sign_in_too_old';
    });
  },
  'lifetime of API keys': async (run) => {
    const auth = new CredentialsService({ storage: run.storage, clock: run.clock, log: silentLog });
    const { apiKey } = await auth.createApiKey({
      teamId: run.place.teamId,
      name: 'k',
      createdBy: null,
      expiresAt: run.clock.now() + 3 * DAY,
    });
    try {
      return await run.until(30 * MINUTE, async () => (await auth.authenticateApiKey(apiKey)) === undefined);
    } finally {
      await auth.stop();
    }
  },
  'retention of jobs': async (run) => {
    const job = await run.job();
    await run.storage.db.updateTable('jobs').set({ phase: 'done', completed_at: run.clock.now() }).where('id', '=', job.id).execute();
    const retention = new JobRetention({ storage: run.storage, clock: run.clock, log: silentLog, keepMs: 3 * DAY });
    return run.until(30 * MINUTE, async () => {
      await retention.sweep();
      return (await run.storage.db.selectFrom('jobs').select('id').where('id', '=', job.id).executeTakeFirst()) === undefined;
    });
  },
};

const AGENT: Record<string, Scenario> = {
  timers: (run) => {
    let over = false;
    void sleep(run.machine, MINUTE, new AbortController().signal).then(() => (over = true));
    return run.until(SECOND, () => over);
  },
  'end of a forward or terminal, undo guard': (run) =>
    run.untilCalled(SECOND, (callback) => void atBootTime(run.machine, run.machine.sinceBoot() + MINUTE, callback)),
  'job: time since the script began': (run) => {
    const begin = momentNow(run.machine, 500);
    return run.until(10 * MINUTE, () => momentNow(run.machine, 500).at - begin.at >= 3 * HOUR);
  },
  'job: time since the script began, after a restart of the agent': (run) => {
    const { mark } = momentNow(run.machine, 500);
    return run.until(30 * MINUTE, () => momentNow(run.machine, 500).at - momentOfMark(mark, run.machine).at >= 2 * DAY);
  },
};

/** A link that a person has just made. */
async function telegramLink({ storage, clock, place: { teamId } }: Run) {
  const owner = { teamId, userId: await seedPerson(storage, teamId, `${newId(0)}@example.org`) };
  const [id, now] = [newId(0), clock.now()];
  await insertLink(storage.db, { ...owner, id, tokenHash: id, createdAt: now, expiresAt: now + LINK.lifeMs });
  await insertReader(storage.db, now);
  return { owner, id };
}

function proofsOf({ storage, clock, place: { teamId, routerId } }: Run) {
  const proofs = new AddressProofs({ storage, clock, secrets: { fingerprints: (_purpose, text) => [text] } });
  // Any id will do for the owner, and each run has its own.
  const owner = { teamId, userId: null, ownerId: routerId };
  return { owner, issue: () => proofs.issue({ ...owner, addressKey: routerId }) };
}

function routersOf({ storage, clock }: Run): RoutersService {
  return new RoutersService({ storage, clock, log: silentLog, rules: { offlineAfterMs: 75 * SECOND } });
}

function beatOf({ place }: Run, reachable: boolean) {
  return { type: 'heartbeat' as const, routers: [{ name: `router ${place.routerId}`, reachable, uptime_seconds: null, reason: null }] };
}

async function untilFault(run: Run, begin: (faults: FaultsBench) => void): Promise<number> {
  const { storage, clock } = run;
  let opened = false;
  const rules = { heartbeatMs: 30 * SECOND, offlineAfterMs: 75 * SECOND };
  // Only of this run's router: those of earlier runs lose their agents.
  const onFault = ({ fault }: FaultEvent): void => void (opened ||= fault.router_id === run.place.routerId);
  const faults = new FaultsBench({ storage, clock, log: silentLog, rules, routers: routersOf(run), onFault });
  await faults.start();
  await faults.onReady(run.connection);
  begin(faults);
  try {
    return await run.until(SECOND, async () => {
      await faults.stored();
      return opened || (await faults.listFaults(run.place.teamId, run.place.routerId, { limit: 1, before: undefined })).length > 0;
    });
  } finally {
    await faults.stop();
  }
}

interface Row {
  what: string;
  ahead: string;
  back: string;
}

/** The rows of the table under a heading of docs/clocks.md, without what stands in brackets or after a colon that only lists. */
function rowsUnder(heading: string): Row[] {
  const text = readFileSync(new URL('../../docs/clocks.md', import.meta.url), 'utf8');
  const section = text.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| what |'));
  return rows.map((line) => {
    const [, what = '', , ahead = '', back = ''] = line.split('|').map((cell) => cell.trim());
    return {
      what: what
        .replace(/^timers:.*/, 'timers')
        .replace(/ \(.*\)$/, '')
        .replace(/, and likewise .*/, ''),
      ahead,
      back,
    };
  });
}

/** Each look may come one period late, and a second is in the tolerance of everything. */
function effect(elapsedMs: number, usualMs: number, everyMs: number): string {
  const differenceMs = elapsedMs - usualMs;
  if (Math.abs(differenceMs) <= Math.max(everyMs, 2 * SECOND)) return 'nothing';
  return differenceMs < 0 ? 'earlier' : 'later';
}

test('each row of docs/clocks.md is tried, and nothing else', () => {
  expect(rowsUnder('Control plane').map(({ what }) => what)).toEqual(Object.keys(SERVER));
  expect(rowsUnder('Agent').map(({ what }) => what)).toEqual(Object.keys(AGENT));
});

describeEachDatabase('a clock that is set', (open) => {
  const rows = [
    ...rowsUnder('Control plane').map((row) => ({ ...row, name: row.what, scenario: SERVER[row.what] })),
    ...rowsUnder('Agent').map((row) => ({ ...row, name: `agent, ${row.what}`, scenario: AGENT[row.what] })),
  ];
  test.each(rows)('does as documented: $name', async ({ scenario, ahead, back }) => {
    const storage = await open();
    const after = async (stepMs: number): Promise<number> => scenario!(new Run(storage, await seedRouter(storage), stepMs));
    const usualMs = await after(0);
    // The periods of the looks above are at most a sixth of what is waited for.
    const everyMs = usualMs >= DAY ? HOUR : usualMs / 6;
    for (const stepMs of STEPS) {
      const documented = Math.abs(stepMs) <= SECOND ? 'nothing' : stepMs > 0 ? ahead : back;
      const elapsedMs = await after(stepMs);
      expect(`${stepMs / SECOND} s: ${effect(elapsedMs, usualMs, everyMs)}`).toBe(`${stepMs / SECOND} s: ${documented}`);
    }
  });
});
