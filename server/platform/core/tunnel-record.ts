/** How a tunnel ended. `unknown`: the control plane was killed while it was open. */
export const TUNNEL_ENDS = [
  'left',
  'restart',
  'replaced',
  'revoked',
  'protocol',
  'version',
  'handshake_timeout',
  'silence',
  'network',
  'server_stopped',
  'unknown',
] as const;

export type EndedBy = (typeof TUNNEL_ENDS)[number];

/** The end of a tunnel. Moments are milliseconds since 1970. */
export interface TunnelEnd {
  endedBy: EndedBy;
  /** When the control plane knew. */
  at: number;
  /** The last byte that came through the tunnel. */
  lastHeardAt: number;
}

/**
 * What is kept of one tunnel: read while it is open, and a last time when it has ended. Its own object is its identity. Tunnels that never
 * became ready have one, too.
 */
export interface TunnelRecord {
  readonly agentId: string;
  readonly teamId: string;
  /** Source address, as the server sees it. */
  readonly address: string;
  /** Milliseconds since 1970. */
  readonly openedAt: number;
  readonly readyAt: number | null;
  /** Null until the agent was greeted. */
  readonly epoch: number | null;
  /** Of the agent's program; null until it has said hello. */
  readonly agentVersion: string | null;
  /** As in `AgentConnection`. */
  readonly reset: boolean;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Undefined while it is open. */
  readonly end: TunnelEnd | undefined;
}

/** Hears of every tunnel. Called in the turn in which it happens, so it must neither throw nor wait. */
export interface TunnelListener {
  onOpened(tunnel: TunnelRecord): void;
  /** The agent was greeted, or the tunnel is ready. */
  onProgress(tunnel: TunnelRecord): void;
  /** A ping of the control plane was answered, or is lost (null): no answer came before the next one. Milliseconds. */
  onPing(tunnel: TunnelRecord, roundTripMs: number | null): void;
  onEnded(tunnel: TunnelRecord): void;
}
