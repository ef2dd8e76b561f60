import { CLOSE } from '../../../protocol/index.ts';
import type { ServerMessage } from '../../../protocol/index.ts';

type Goaway = Extract<ServerMessage, { type: 'goaway' }>;

/** Why a tunnel is closed on purpose. */
export type CloseReason = keyof typeof CLOSE;

/** What the agent is told before, and when it may come back. */
const GOAWAY: Record<Exclude<CloseReason, 'normal'>, { reason: Goaway['reason']; afterMs: number }> = {
  // Nothing will have changed in a second; someone has to put it right.
  protocol: { reason: 'protocol', afterMs: 60_000 },
  version: { reason: 'protocol', afterMs: 60_000 },
  revoked: { reason: 'revoked', afterMs: 60_000 },
  // Two processes with one credential would otherwise replace each other without end.
  replaced: { reason: 'replaced', afterMs: 30_000 },
  // The pause is the one that the door enforces, which is given with each such close.
  abuse: { reason: 'protocol', afterMs: 60_000 },
  handshakeTimeout: { reason: 'restart', afterMs: 5000 },
  restart: { reason: 'restart', afterMs: 5000 },
};

/** The last message of a tunnel; none when the agent is leaving by itself. */
export function goaway(reason: CloseReason, reconnectAfterMs?: number): Goaway | undefined {
  if (reason === 'normal') return undefined;
  const { reason: told, afterMs } = GOAWAY[reason];
  return { type: 'goaway', reason: told, reconnect_after_ms: reconnectAfterMs ?? afterMs };
}
