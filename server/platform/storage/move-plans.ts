import type { Tx } from './db.ts';

/** Ports closed longer ago than this are reused anyway (forwards/entry/ports.ts has ten minutes). */
const CLOSED_WITHIN_MS = 3_600_000;

/**
 * Shifts every stored due time by the step of the wall clock, so that remaining waits stay the same. Times that people or other
 * programs know stay unchanged: the lifetime of credentials, the end of a forward, and the times of past events.
 * @param now the time of the step, on the clock before the step
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
  // `expires_at` ends the minutes in which a job must be delivered.
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
    .updateTable('jobs')
    .set((eb) => ({ guard_fires_at: eb('guard_fires_at', '+', stepMs) }))
    // By the index of what agents hold.
    .where('overdue_at', 'is not', null)
    .where('guard_fires_at', 'is not', null)
    .execute();
  await tx
    .updateTable('idempotency_keys')
    .set((eb) => ({ created_at: eb('created_at', '+', stepMs) }))
    .execute();
  // Present states keep their age; past ones keep the times that were published.
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
  await moveNotifications(tx, stepMs);
  // While its port is in quarantine, the time since it was closed matters more than the time of closing.
  await tx
    .updateTable('forwards')
    .set((eb) => ({ closed_at: eb('closed_at', '+', stepMs) }))
    .where('closed_at', '>', now - CLOSED_WITHIN_MS)
    .execute();
}

async function moveNotifications(tx: Tx, stepMs: number): Promise<void> {
  await tx
    .updateTable('threads')
    .set((eb) => ({
      flush_at: eb('flush_at', '+', stepMs),
      pending_since: eb('pending_since', '+', stepMs),
      told_at: eb('told_at', '+', stepMs),
      acknowledged_until: eb('acknowledged_until', '+', stepMs),
      escalate_at: eb('escalate_at', '+', stepMs),
    }))
    .where('closed_at', 'is', null)
    .execute();
  await tx
    .updateTable('messages')
    .set((eb) => ({
      due_at: eb('due_at', '+', stepMs),
      expires_at: eb('expires_at', '+', stepMs),
      claimed_until: eb('claimed_until', '+', stepMs),
    }))
    .where('due_at', 'is not', null)
    .execute();
  await tx
    .updateTable('send_buckets')
    .set((eb) => ({
      at: eb('at', '+', stepMs),
      stopped_until: eb('stopped_until', '+', stepMs),
      probing_until: eb('probing_until', '+', stepMs),
    }))
    .execute();
  // Codes of the last two days: how long they can be used, and when the next one may be sent.
  await tx
    .updateTable('address_proofs')
    .set((eb) => ({ sent_at: eb('sent_at', '+', stepMs) }))
    .execute();
  await tx
    .updateTable('address_proofs')
    .set((eb) => ({ expires_at: eb('expires_at', '+', stepMs) }))
    // 0: it has ended.
    .where('expires_at', '>', 0)
    .execute();
  await tx
    .updateTable('telegram_links')
    .set((eb) => ({ created_at: eb('created_at', '+', stepMs), expires_at: eb('expires_at', '+', stepMs) }))
    .where('proved_at', 'is', null)
    .execute();
  await tx
    .updateTable('telegram_readers')
    .set((eb) => ({
      moved_at: eb('moved_at', '+', stepMs),
      due_at: eb('due_at', '+', stepMs),
      claimed_until: eb('claimed_until', '+', stepMs),
      read_at: eb('read_at', '+', stepMs),
    }))
    .execute();
}

/**
 * Makes entries due that are planned further ahead than any wait allows: the clock was set back while no control plane
 * was running. Call once at start.
 * @param longestMs the longest wait of each kind
 */
export async function capPlans(
  tx: Tx,
  now: number,
  longestMs: { jobEvent: number; backup: number; thread: number; message: number },
): Promise<void> {
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
  await tx
    .updateTable('threads')
    .set({ flush_at: now })
    .where('flush_at', '>', now + longestMs.thread)
    .execute();
  const latest = now + longestMs.message;
  await tx.updateTable('messages').set({ due_at: now }).where('due_at', '>', latest).execute();
  await tx.updateTable('messages').set({ claimed_until: now }).where('claimed_until', '>', latest).execute();
  await tx.updateTable('messages').set({ expires_at: latest }).where('expires_at', '>', latest).where('due_at', 'is not', null).execute();
  await tx.updateTable('send_buckets').set({ stopped_until: null }).where('stopped_until', '>', latest).execute();
  await tx.updateTable('send_buckets').set({ probing_until: 0 }).where('probing_until', '>', latest).execute();
  // How long such a code was valid already is not known, so it ends. The limits count it as sent now.
  await tx.updateTable('address_proofs').set({ sent_at: now, expires_at: 0 }).where('sent_at', '>', now).execute();
  await tx.updateTable('telegram_links').set({ created_at: now, expires_at: now }).where('created_at', '>', now).execute();
  await tx.updateTable('telegram_readers').set({ due_at: now }).where('due_at', '>', latest).execute();
  await tx.updateTable('telegram_readers').set({ claimed_until: now }).where('claimed_until', '>', latest).execute();
  await tx.updateTable('idempotency_keys').set({ created_at: now }).where('created_at', '>', now).execute();
  await tx.updateTable('forwards').set({ closed_at: now }).where('closed_at', '>', now).execute();
}
