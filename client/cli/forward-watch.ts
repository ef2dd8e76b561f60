import type { Signalbox } from '../client.ts';
import { isRetryable, ProblemError } from '../errors.ts';
import type { TransientForward } from '../generated.ts';
import type { LocalPort } from '../local-port.ts';
import { pauseFor } from '../transport.ts';
import type { Outcome } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { refusalText } from './forward-commands.ts';

/** Monotonic time for the waits: the wall clock of this machine may be hours off from the server's. */
export interface WatchClock {
  /** Milliseconds since an arbitrary moment. */
  monotonic: () => number;
  /** Waits. @throws the signal's reason */
  pause: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export const systemWatchClock: WatchClock = { monotonic: () => performance.now(), pause: pauseFor };

/** Key revoked or expired, role reduced, or forward deleted: a retry gets the same answer. */
const FINAL_REFUSALS = new Set(['unauthenticated', 'forbidden', 'not_found']);

/** How long after the forward's end the server may stay unreachable before the command gives up. */
const UNREACHABLE_AFTER_END_MS = 60_000;

/** Interval between two polls of the forward: 6 of the 60 requests a minute. */
const POLL_MS = 10_000;
/** Delay after the forward's end until the server has stored that it ended. */
const STORE_DELAY_MS = 1000;
/** Longest wait for the server to create or close the forward. Ctrl-C does not shorten it: a forward could stay open. */
export const ANSWER_MS = 30_000;
/** Pause between two attempts to close the forward while the server does not answer. */
const CLOSE_RETRY_MS = 2000;

interface Watched {
  signalbox: Signalbox;
  forward: TransientForward;
  local: Pick<LocalPort, 'counts'>;
  clock: WatchClock;
  stderr: (text: string) => void;
  signal: AbortSignal;
}

/**
 * Prints the state of the forward until it ends. The time left counts from the server's answer by the monotonic clock.
 * @throws the signal's reason at Ctrl-C, ProblemError when the server refuses further polls
 */
export async function watchForward({ signalbox, forward, local, clock, stderr, signal }: Watched): Promise<Outcome> {
  const endsAt = clock.monotonic() + Date.parse(forward.expires_at) - Date.parse(forward.created_at);
  let said = '';
  for (;;) {
    const { open, total } = local.counts;
    const leftMs = endsAt - clock.monotonic();
    const line = `${Math.max(0, Math.ceil(leftMs / 60_000))} min left, ${open} connections open, ${total} in total\n`;
    if (line !== said) stderr(line);
    said = line;
    await clock.pause(leftMs > 0 ? Math.min(POLL_MS, leftMs + STORE_DELAY_MS) : POLL_MS, signal);
    const now = await poll(signalbox, forward, signal);
    if (now === undefined && clock.monotonic() > endsAt + UNREACHABLE_AFTER_END_MS) {
      stderr('the forward has expired, and the server does not answer\n');
      return { json: undefined, text: '', exitCode: EXIT.notConnected };
    }
    if (now?.refused === true) {
      stderr(refusalText(now));
      return { json: undefined, text: '', exitCode: EXIT.failed };
    }
    if (now === undefined || now.closed_at === null) continue;
    stderr(now.revoked_early ? 'the forward was revoked by someone else\n' : 'the forward has expired\n');
    return { json: undefined, text: '', exitCode: now.revoked_early ? EXIT.failed : EXIT.ok };
  }
}

/**
 * @returns undefined when the server does not answer: connections may still work, and the next poll tries again
 * @throws ProblemError when the server refuses for good
 */
async function poll(
  signalbox: Signalbox,
  { router_id: routerId, id }: TransientForward,
  signal: AbortSignal,
): Promise<TransientForward | undefined> {
  try {
    return await signalbox.call('getForward', { path: { router_id: routerId, id } }, { signal, timeoutMs: ANSWER_MS });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProblemError && FINAL_REFUSALS.has(error.code)) throw error;
    return undefined;
  }
}

/** Revokes the forward, also across a restart of the server. Prints the result and never rejects. */
export async function closeForward({ signalbox, forward, clock, stderr }: Omit<Watched, 'local' | 'signal'>): Promise<void> {
  const { router_id: routerId, id, expires_at: end } = forward;
  const giveUpAt = clock.monotonic() + ANSWER_MS;
  for (let isFirst = true; ; isFirst = false) {
    try {
      await signalbox.call('revokeForward', { path: { router_id: routerId, id } }, { signal: AbortSignal.timeout(ANSWER_MS) });
      stderr('the forward is closed\n');
      return;
    } catch (error) {
      if (!isRetryable(error) || clock.monotonic() + CLOSE_RETRY_MS > giveUpAt) {
        stderr(`the forward ${id} could not be closed and stays open until ${end}: ${(error as Error).message}\n`);
        return;
      }
      if (isFirst) stderr(`the server does not answer; retrying for ${ANSWER_MS / 1000} s to close the forward\n`);
      await clock.pause(CLOSE_RETRY_MS);
    }
  }
}
