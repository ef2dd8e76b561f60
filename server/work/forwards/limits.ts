/** All limits of forwards. Tests use smaller ones. */
export interface ForwardLimits {
  /** Forwards of one team that are open at the same time. */
  openPerTeam: number;
  /** The same for one router. */
  openPerRouter: number;
  /** Connections through one forward at the same time; also the maximum of `max_connections`. */
  connections: number;
  /** Channels of one forward, busy and free. At least `connections`, so that no connection waits for ever. */
  channels: number;
  /** Channels kept free in advance, for a browser's first burst. */
  warmChannels: number;
  /** Longest wait of an accepted client for a channel. */
  channelWaitMs: number;
  /** When requested channels that have not arrived count as failed. */
  dialTimeoutMs: number;
  /** Channels beyond the peak of the last such period are closed. */
  idlePeriodMs: number;
  /** Connections of all forwards whose PROXY header or ClientHello has not arrived. */
  pendingConnections: number;
  /** How long those can take. Clients send their first bytes together with the connection. */
  preludeTimeoutMs: number;
  /** Longest wait of the creating request for the router's side. */
  createWaitMs: number;
  /** Longest time for an agent to open a way, which takes a dozen commands, and it may have to log in to the router first. */
  openTimeoutMs: number;
  /** Longest wait for an agent that is told to close a forward. */
  closeTimeoutMs: number;
  /** Pause before the agent is asked again after a failure that may pass. */
  retryMs: number;
  /** Finished connections and refused attempts are stored this often. */
  flushMs: number;
  /** Finished connections are deleted after this time. */
  keepConnectionsMs: number;
  /** Finished connections kept for one forward; older ones are deleted. */
  keepConnections: number;
}

export const FORWARD_LIMITS: ForwardLimits = {
  openPerTeam: 1000,
  openPerRouter: 100,
  connections: 512,
  channels: 512,
  warmChannels: 4,
  channelWaitMs: 10_000,
  dialTimeoutMs: 5_000,
  idlePeriodMs: 30_000,
  // Each holds one ClientHello at most, 16 kB.
  pendingConnections: 2000,
  preludeTimeoutMs: 5_000,
  createWaitMs: 5_000,
  openTimeoutMs: 90_000,
  closeTimeoutMs: 30_000,
  retryMs: 15_000,
  // Each flush writes to disk, which blocks other writes. A request for the connections flushes at once.
  flushMs: 5_000,
  keepConnectionsMs: 30 * 24 * 3_600_000,
  keepConnections: 10_000,
};
