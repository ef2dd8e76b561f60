import type { Clock } from '../../platform/core/clock.ts';
import { newId } from '../../platform/core/ids.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Poster } from '../../platform/outgoing/poster.ts';
import { signedHeaders } from '../../platform/outgoing/signature.ts';
import type { Storage } from '../../platform/storage/db.ts';
import { nextAttemptAt } from './schedule.ts';
import type { TeamSecrets } from './secrets/team-secrets.ts';
import { insertAttempt, moveFollowers, releaseEvent, settleEvent } from './store.ts';
import type { AttemptInsert, Settlement } from './store.ts';
import type { AttemptResult, ClaimedEvent } from './types.ts';

/** Attempts kept per event: those of a few complete schedules. */
const KEPT_ATTEMPTS = 50;

export interface DeliverDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  secrets: Pick<TeamSecrets, 'signing'>;
  poster: Pick<Poster, 'post'>;
  /** A random number from 0 to below 1, to spread retries. */
  random: () => number;
  stop: AbortSignal;
}

/** One attempt at a claimed event, with its record. @throws AppError when the record cannot be stored */
export async function deliver(event: ClaimedEvent, deps: DeliverDeps): Promise<void> {
  const { storage, clock } = deps;
  // The receiver answered 410 for this job: no further events are sent.
  const isStopped = event.previous === 'gone' && event.state === 'pending';
  if (isStopped) {
    const now = clock.now();
    await storage.writes.write(async (tx) => {
      await settleEvent(tx, event, { state: 'gone', attempts: event.attempts, dueAt: null, now });
      await moveFollowers(tx, event, now);
    });
    return;
  }
  const at = clock.now();
  const started = performance.now();
  const result = await attempt(event, at, deps);
  const durationMs = Math.round(performance.now() - started);
  if (result.outcome === 'stopped') await storage.writes.write((tx) => releaseEvent(tx, event));
  else await record(event, result, { at, durationMs }, deps);
}

async function attempt(event: ClaimedEvent, at: number, { secrets, poster, stop, log }: DeliverDeps): Promise<AttemptResult> {
  let headers: Record<string, string>;
  try {
    headers = signedHeaders({ id: event.id, at, body: event.body }, await secrets.signing(event.teamId));
  } catch (error) {
    // The key file of the database is missing. Receivers would reject an unsigned update.
    log.error({ err: error, team_id: event.teamId, job_id: event.jobId }, 'a job update could not be signed');
    return { outcome: 'failed', status: null, error: 'signing_failed', retryAfter: undefined };
  }
  return poster.post({ url: event.url, headers, body: event.body }, stop);
}

type Answer = Exclude<AttemptResult, { outcome: 'stopped' }>;

async function record(event: ClaimedEvent, result: Answer, time: { at: number; durationMs: number }, deps: DeliverDeps): Promise<void> {
  const { storage, clock, random } = deps;
  const now = clock.now();
  const row: AttemptInsert = {
    id: newId(now),
    ...time,
    status: result.status,
    error: result.outcome === 'delivered' ? null : result.error,
  };
  const settlement = settle(event, result, now, random());
  await storage.writes.write(async (tx) => {
    await insertAttempt(tx, event, row, KEPT_ATTEMPTS);
    const isOurs = await settleEvent(tx, event, settlement);
    // A resend is outside the order.
    if (!isOurs || event.state === 'resending') return;
    await moveFollowers(tx, event, settlement.dueAt ?? now);
  });
}

function settle(event: ClaimedEvent, result: Answer, now: number, random: number): Settlement {
  const attempts = event.attempts + 1;
  const settled = { attempts, dueAt: null, now };
  if (result.outcome === 'delivered') return { ...settled, state: 'delivered' };
  if (result.error === 'gone') return { ...settled, state: 'gone' };
  const dueAt = nextAttemptAt({ attempts, now, retryAfter: result.retryAfter, random });
  return dueAt === undefined ? { ...settled, state: 'failed' } : { ...settled, state: event.state, dueAt };
}
