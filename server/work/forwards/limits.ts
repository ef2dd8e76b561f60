/** Everything about forwards that has a bound, in one place; tests use smaller ones. */
export interface ForwardLimits {
  /** Forwards of one team that are open at the same time. */
  openPerTeam: number;
  /** The same for one router. */
  openPerRouter: number;
  /** Connections through one forward at the same time, and what its maker may ask for at most. */
  connections: number;
  /** Channels of one forward, busy and free. Not fewer than `connections`, else some of those always wait. */
  channels: number;
  /** Channels kept free in advance: what a browser's first burst takes. */
  warmChannels: number;
  /** Longest wait of an accepted client for a channel. */
  channelWaitMs: number;
  /** When channels that were asked for are taken as not coming. */
  dialTimeoutMs: number;
  /** Channels beyond what the busiest moment of the last such period needed are closed. */
  idlePeriodMs: number;
  /** Clients of all forwards that have not yet said whose they are: behind a load balancer, or at the door by name. */
  waitingClients: number;
  /** How long they may take to say it; the first bytes are on their way together with the connection. */
  clientSpeaksMs: number;
  /** Longest wait of the creating request for the router's side. */
  createWaitMs: number;
  /** Longest time an agent may take to open a way; it may have to log in to the router first. */
  openTimeoutMs: number;
  /** Pause before the agent is asked again after a failure that may pass. */
  retryMs: number;
  /** Finished connections and refused attempts are stored this often. */
  flushMs: number;
  /** Finished connections are forgotten after so long, */
  keepConnectionsMs: number;
  /** and those of one forward beyond the newest so many. */
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
  waitingClients: 2000,
  clientSpeaksMs: 5_000,
  createWaitMs: 5_000,
  openTimeoutMs: 30_000,
  retryMs: 15_000,
  // Each costs a write to disk during which nothing else happens; whoever asks for them gets them at once.
  flushMs: 5_000,
  keepConnectionsMs: 30 * 24 * 3_600_000,
  keepConnections: 10_000,
};
