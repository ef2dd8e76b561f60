import type { Deadline } from '../../core/deadline.ts';
import type { UserPolicies } from '../../core/user-policies.ts';
import type { RouterFacts } from '../adapter.ts';
import type { RouterAccess } from '../open-sessions.ts';
import type { RouterOsApi } from '../routeros-api/index.ts';
import type { SshSession } from '../ssh/index.ts';

/** One line of the table that `signalbox-agent check` prints. */
export interface CheckRow {
  router: string;
  what: string;
  ok: boolean;
  /** It works, but needs attention. */
  warning?: boolean;
  /** The finding and, when it is not ok, what does not work. */
  detail: string;
}

/** Shared by the checks of one router. A session is undefined when it could not be opened or is not configured. */
export interface CheckContext {
  config: RouterAccess;
  api: RouterOsApi | undefined;
  ssh: SshSession | undefined;
  facts: RouterFacts | undefined;
  /** The policies of the configured user, if the router allowed to read them. */
  policies: UserPolicies | undefined;
  deadline: Deadline;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Part of every name created on the router, so that concurrent checks do not collide. */
  nonce: string;
}

export interface Finding {
  ok: boolean;
  warning?: boolean;
  detail: string;
}

/** One check. `run` may throw: that is a failure, reported with `costs`. */
export interface Check {
  what: string;
  /** What does not work without it. */
  costs: string;
  /** False: the check does not apply to this router. */
  applies: (context: CheckContext) => boolean;
  run: (context: CheckContext) => Promise<Finding>;
}
