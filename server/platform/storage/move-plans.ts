import type { Tx } from './db.ts';

/** Ports closed longer ago than this are given away again anyway (forwards/entry/ports.ts has ten minutes). */
const CLOSED_LATELY_MS = 3_600_000;

/**
 * Moves every stored moment that means a wait by what the wall clock was set by. What is due stays due, and what has five minutes left
 * has five minutes left. Moments that people or other programs were told as such stay: the lifetime of credentials, the end of a
 * forward, and everything that has happened.
 * @param now the moment of the step, by the time from before it
 */
export async function movePlans(tx: Tx, stepMs: number, now: number): Promise<void> {
  await tx
    .updateTable('job_events')
    .set((eb) => ({ due_at: eb('due_at', '+', stepMs) }))
    .where('due_at', 'is not', null)
    .execute();
  await tx
    .updateTable('job_events')
    .set((eb) => ({ claimed_until: eb('claimed_until', '+', stepMs) }))
    .where('claimed_until', 'is not', null)
    .execute();
  await tx
    .updateTable('backups')
    .set((eb) => ({ due_at: eb('due_at', '+', stepMs) }))
    .where('due_at', 'is not', null)
    .execute();
  await tx
    .updateTable('revocations')
    .set((eb) => ({ due_at: eb('due_at', '+', stepMs) }))
    .where('due_at', 'is not', null)
    .execute();
  await tx
    .updateTable('campaigns')
    .set((eb) => ({ next_start_at: eb('next_start_at', '+', stepMs) }))
    .where('finished_at', 'is', null)
    .execute();
  // A job was to be delivered within so many minutes; `expires_at` tells when those end.
  await tx
    .updateTable('jobs')
    .set((eb) => ({ expires_at: eb('expires_at', '+', stepMs) }))
    .where('phase', '=', 'queued')
    .execute();
  await tx
    .updateTable('jobs')
    .set((eb) => ({ overdue_at: eb('overdue_at', '+', stepMs) }))
    .where('overdue_at', 'is not', null)
    .execute();
  await tx
    .updateTable('idempotency_keys')
    .set((eb) => ({ created_at: eb('created_at', '+', stepMs) }))
    .execute();
  // What goes on began so long ago as before; what is over stays where it was told to be.
  await tx
    .updateTable('router_state_changes')
    .set((eb) => ({ since: eb('since', '+', stepMs) }))
    .where('until', 'is', null)
    .execute();
  await tx
    .updateTable('agent_sessions')
    .set((eb) => ({ opened_at: eb('opened_at', '+', stepMs), ready_at: eb('ready_at', '+', stepMs) }))
    .where('closed_at', 'is', null)
    .execute();
  // While its port is in quarantine, how long it has been closed counts for more than when.
  await tx
    .updateTable('forwards')
    .set((eb) => ({ closed_at: eb('closed_at', '+', stepMs) }))
    .where('closed_at', '>', now - CLOSED_LATELY_MS)
    .execute();
}

/**
 * Makes due what is planned farther ahead than anything is ever planned: the clock was set back while no control plane
 * was looking. Call once at start.
 * @param longestMs the longest wait of each kind
 */
export async function capPlans(tx: Tx, now: number, longestMs: { jobEvent: number; backup: number }): Promise<void> {
  await tx
    .updateTable('job_events')
    .set({ due_at: now })
    .where('due_at', '>', now + longestMs.jobEvent)
    .execute();
  await tx
    .updateTable('job_events')
    .set({ claimed_until: now })
    .where('claimed_until', '>', now + longestMs.jobEvent)
    .execute();
  await tx
    .updateTable('backups')
    .set({ due_at: now })
    .where('due_at', '>', now + longestMs.backup)
    .execute();
  await tx.updateTable('idempotency_keys').set({ created_at: now }).where('created_at', '>', now).execute();
  await tx.updateTable('forwards').set({ closed_at: now }).where('closed_at', '>', now).execute();
}
