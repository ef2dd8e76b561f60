import type { Signalbox } from '../client.ts';
import { mayPass, ProblemError } from '../errors.ts';
import type { TransientForward } from '../generated.ts';
import type { LocalPort } from '../local-port.ts';
import { pauseFor } from '../transport.ts';
import type { Outcome } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { refusalText } from './forward-commands.ts';

/** What waiting goes by: this machine's time of day may be hours beside the server's. */
export interface WatchClock {
  /** Milliseconds since some moment; nobody sets it. */
  monotonic: () => number;
  /** Waits. @throws the signal's reason */
  pause: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export const systemWatchClock: WatchClock = { monotonic: () => performance.now(), pause: pauseFor };

/** Key revoked or expired, rights taken away, forward of nobody any more: asking again changes nothing. */
const GIVEN_UP = new Set(['unauthenticated', 'forbidden', 'not_found']);

/** Past its end the server gets so long to say so. */
const UNHEARD_MS = 60_000;

/** How often is asked whether the forward is still open: 6 of 60 requests a minute. */
const LOOK_EVERY_MS = 10_000;
/** So long after the end its end is stored. */
const ENDED_MS = 1000;
/** Longest wait for the creation or the end of the forward; Ctrl-C does not shorten it, else one could stay open. */
export const ANSWER_MS = 30_000;
/** Between two tries to close it while the server does not answer. */
const CLOSE_AGAIN_MS = 2000;

interface Watched {
  signalbox: Signalbox;
  forward: TransientForward;
  local: Pick<LocalPort, 'counts'>;
  clock: WatchClock;
  stderr: (text: string) => void;
  signal: AbortSignal;
}

/**
 * Says what there is to say until the forward is over. The time left is the server's own count, from the answer on.
 * @throws the signal's reason at Ctrl-C, ProblemError when the server refuses to say any more
 */
export async function watchForward({ signalbox, forward, local, clock, stderr, signal }: Watched): Promise<Outcome> {
  const endsAt = clock.monotonic() + Date.parse(forward.expires_at) - Date.parse(forward.created_at);
  let said = '';
  for (;;) {
    const { open, total } = local.counts;
    const leftMs = endsAt - clock.monotonic();
    const line = `${Math.max(0, Math.ceil(leftMs / 60_000))} min left, ${open} connections open, ${total} in all\n`;
    if (line !== said) stderr(line);
    said = line;
    await clock.pause(leftMs > 0 ? Math.min(LOOK_EVERY_MS, leftMs + ENDED_MS) : LOOK_EVERY_MS, signal);
    const now = await lookAt(signalbox, forward, signal);
    if (now === undefined && clock.monotonic() > endsAt + UNHEARD_MS) {
      stderr('its time is over, and the server does not answer\n');
      return { json: undefined, text: '', exitCode: EXIT.notConnected };
    }
    if (now?.refused === true) {
      stderr(refusalText(now));
      return { json: undefined, text: '', exitCode: EXIT.failed };
    }
    if (now === undefined || now.closed_at === null) continue;
    stderr(now.revoked_early ? 'the forward was revoked by someone else\n' : 'its time is over\n');
    return { json: undefined, text: '', exitCode: now.revoked_early ? EXIT.failed : EXIT.ok };
  }
}

/**
 * Undefined when the server does not answer: connections may go on, and it is asked again.
 * @throws ProblemError when it refuses: nobody is told any more what becomes of the forward
 */
async function lookAt(
  signalbox: Signalbox,
  { router_id: routerId, id }: TransientForward,
  signal: AbortSignal,
): Promise<TransientForward | undefined> {
  try {
    return await signalbox.call('getForward', { path: { router_id: routerId, id } }, { signal, timeoutMs: ANSWER_MS });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProblemError && GIVEN_UP.has(error.code)) throw error;
    return undefined;
  }
}

/** Revokes the forward, also while the server is being restarted; says what came of it and never rejects. */
export async function closeForward({ signalbox, forward, clock, stderr }: Omit<Watched, 'local' | 'signal'>): Promise<void> {
  const { router_id: routerId, id, expires_at: end } = forward;
  const giveUpAt = clock.monotonic() + ANSWER_MS;
  for (let isFirst = true; ; isFirst = false) {
    try {
      await signalbox.call('revokeForward', { path: { router_id: routerId, id } }, { signal: AbortSignal.timeout(ANSWER_MS) });
      stderr('the forward is closed\n');
      return;
    } catch (error) {
      if (!mayPass(error) || clock.monotonic() + CLOSE_AGAIN_MS > giveUpAt) {
        stderr(`the forward ${id} could not be closed and stays until ${end}: ${(error as Error).message}\n`);
        return;
      }
      if (isFirst) stderr(`the server does not answer; trying for ${ANSWER_MS / 1000} s to close the forward\n`);
      await clock.pause(CLOSE_AGAIN_MS);
    }
  }
}
