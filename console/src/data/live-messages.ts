import type { StreamEvent } from '../../../client/browser.ts';

/** What the worker with the stream tells its page. */
export type FromWorker =
  /** Give me an access token. */
  | { kind: 'token' }
  /** Events and heartbeats since the last batch. `position` is where a new stream resumes. */
  | { kind: 'batch'; events: StreamEvent[]; position: string; at: number }
  /** The stream is open, or broken. */
  | { kind: 'open' }
  /** The server refuses the stream: no reconnection helps. */
  | { kind: 'refused'; code: string; message: string };

export type ToWorker = { kind: 'start'; position: string } | { kind: 'token'; token: string };
