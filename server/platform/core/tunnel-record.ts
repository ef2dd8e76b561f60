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

/** The end of a tunnel. Times are milliseconds since 1970. */
export interface TunnelEnd {
  endedBy: EndedBy;
  /** When the control plane detected it. */
  at: number;
  /** The last byte that came through the tunnel. */
  lastHeardAt: number;
  /** The agent's credential is refused from then on: it has no newer tunnel, however this one is said to have ended. */
  isRevoked?: true;
}

/**
 * Facts about one tunnel, read while it is open and once more at its end. The object itself is its identity. Tunnels that never
 * became ready have one too.
 */
export interface TunnelRecord {
  readonly agentId: string;
  readonly teamId: string;
  /** Source address, as the server sees it. */
  readonly address: string;
  /** Milliseconds since 1970. */
  readonly openedAt: number;
  readonly readyAt: number | null;
  /** Null before `welcome`. */
  readonly epoch: number | null;
  /** Version of the agent; null before `hello`. */
  readonly agentVersion: string | null;
  /** As in `AgentConnection`. */
  readonly reset: boolean;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Undefined while it is open. */
  readonly end: TunnelEnd | undefined;
}

/** Listens to every tunnel. Called in the event-loop turn of the event, so it must neither throw nor wait. */
export interface TunnelListener {
  onOpened(tunnel: TunnelRecord): void;
  /** `welcome` was sent, or the tunnel is ready. */
  onProgress(tunnel: TunnelRecord): void;
  /** A ping of the control plane was answered, or is lost (null): no answer came before the next one. Milliseconds. */
  onPing(tunnel: TunnelRecord, roundTripMs: number | null): void;
  onEnded(tunnel: TunnelRecord): void;
}
