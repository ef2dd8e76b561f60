import type { Services } from './features.ts';

/** A control plane that has started. */
export interface RunningServer {
  /** Address of the API: `http://127.0.0.1:8080`. */
  url: string;
  /** Address of the plant demonstration; null when it is off. */
  sandboxUrl: string | null;
  services: Services;
  /** Reloads the TLS certificate now instead of within a minute. Never rejects. */
  reload(): Promise<void>;
  /**
   * Before a stop of one of several: gives its agents to others, so that nothing fails. Resolves when they are gone; at once for one that serves
   * alone. Never rejects.
   */
  drain(): Promise<void>;
  /** Accepts nothing new, completes what is in progress and stores what is in memory. */
  close(): Promise<void>;
}
