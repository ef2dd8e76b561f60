import type { StreamEvent } from '../../../client/browser.ts';

/** What the worker with the stream tells its page; all but `token` goes on to the other tabs. */
export type FromWorker =
  /** Give me an access token. */
  { kind: 'token' } | News;

export type News =
  /** Events and heartbeats since the last batch. `position` is where a new stream resumes. */
  | { kind: 'batch'; events: StreamEvent[]; position: string; at: number }
  /** The stream is open, for the first time or again. */
  | { kind: 'open' }
  /** The server refuses the stream. Only a later attempt may help. */
  | { kind: 'refused'; message: string };

export type ToWorker =
  | { kind: 'start'; position: string; watch: readonly string[] }
  /** The forwards whose traffic is wanted from now on. */
  | { kind: 'watch'; watch: readonly string[] }
  /** `null`: there is no token now, because the control plane does not answer. */
  | { kind: 'token'; token: string | null };

/** A tab tells the others whose traffic it shows, now and then again: a tab that has closed tells nothing. */
export interface Watching {
  kind: 'watching';
  tab: string;
  forwards: readonly string[];
}

/** A tab that has just been opened asks how things stand: the next news may be 15 s away. */
export interface Hello {
  kind: 'hello';
}
