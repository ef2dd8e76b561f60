import { CLOSE } from '../../../protocol/index.ts';
import type { ServerMessage } from '../../../protocol/index.ts';

type Goaway = Extract<ServerMessage, { type: 'goaway' }>;

/** Why a tunnel is closed on purpose. */
export type CloseReason = keyof typeof CLOSE;

/** The goaway reason, and when the agent may reconnect. */
const GOAWAY: Record<Exclude<CloseReason, 'normal'>, { reason: Goaway['reason']; afterMs: number }> = {
  // A quick reconnect cannot help: someone has to fix it.
  protocol: { reason: 'protocol', afterMs: 60_000 },
  version: { reason: 'protocol', afterMs: 60_000 },
  revoked: { reason: 'revoked', afterMs: 60_000 },
  // Two processes with one credential would otherwise replace each other without end.
  replaced: { reason: 'replaced', afterMs: 30_000 },
  // Each such close passes the pause that the endpoint enforces.
  abuse: { reason: 'protocol', afterMs: 60_000 },
  handshakeTimeout: { reason: 'restart', afterMs: 5000 },
  restart: { reason: 'restart', afterMs: 5000 },
};

/** The last message of a tunnel; undefined when the agent closes it. */
export function goaway(reason: CloseReason, reconnectAfterMs?: number): Goaway | undefined {
  if (reason === 'normal') return undefined;
  const { reason: sent, afterMs } = GOAWAY[reason];
  return { type: 'goaway', reason: sent, reconnect_after_ms: reconnectAfterMs ?? afterMs };
}
