import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { WatchRights } from '../agents/service.ts';
import type { RoutersService } from '../routers/service.ts';
import type { KnownRuns } from '../sessions/types.ts';

/** Several control planes: each computes the states of its own agents, and is told the others. */
export interface SharedWatch {
  rights: WatchRights;
  /** Others serve the database already, so that nothing has been unknown. */
  othersServe: () => boolean;
}

export interface StatesDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  counters?: Counters | undefined;
  routers: Pick<RoutersService, 'routerIdOf' | 'lastHeartbeatOf'>;
  runs: KnownRuns;
  /** Where several control planes serve the database. */
  shared?: SharedWatch | undefined;
  /** A router that its connected agent does not report for this long is `not_reported`, milliseconds. */
  offlineAfterMs: number;
  /** States that ended longer ago are deleted, milliseconds. */
  keepMs: number;
}
