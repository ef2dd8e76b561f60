import type { Deadline } from '../../core/deadline.ts';
import type { RouterFacts } from '../adapter.ts';
import type { RouterAccess } from '../open-sessions.ts';
import type { RouterOsApi } from '../routeros-api/index.ts';
import type { SshSession } from '../ssh/index.ts';

/** One line of the table that `signalbox-agent check` prints. */
export interface CheckRow {
  router: string;
  what: string;
  ok: boolean;
  /** It works, but somebody should look at it. */
  warning?: boolean;
  /** What was found; where it is not ok, what that costs. */
  detail: string;
}

/** What the checks of one router share. Sessions are absent where they could not be had or are not configured. */
export interface CheckContext {
  config: RouterAccess;
  api: RouterOsApi | undefined;
  ssh: SshSession | undefined;
  facts: RouterFacts | undefined;
  /** The policies of the configured user, if the router let itself be asked. */
  policies: ReadonlySet<string> | undefined;
  deadline: Deadline;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Part of every name made on the router, so that two checks at a time do not meet. */
  nonce: string;
}

export interface Finding {
  ok: boolean;
  warning?: boolean;
  detail: string;
}

/** One thing to try. `run` may throw: that is a failure, told with `costs`. */
export interface Check {
  what: string;
  /** What does not work without it. */
  costs: string;
  /** False: there is nothing to try here. */
  applies: (context: CheckContext) => boolean;
  run: (context: CheckContext) => Promise<Finding>;
}
