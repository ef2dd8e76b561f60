import type { Clock } from '../../platform/core/clock.ts';
import type { ForwardsService } from '../../work/forwards/service.ts';
import type { JobsService } from '../../work/jobs/service.ts';
import type { TerminalsService } from '../../work/terminals/service.ts';
import type { RoutersService } from '../routers/service.ts';
import type { RouterRecord } from '../routers/types.ts';
import type { Heard, HeardElsewhere } from './heard-elsewhere.ts';
import type { Storage } from '../../platform/storage/db.ts';

export interface RemovalsDeps {
  storage: Storage;
  clock: Clock;
  routers: Pick<RoutersService, 'reasonStillHeld' | 'presence'>;
  /** Where several control planes serve the database. */
  heardElsewhere: Pick<HeardElsewhere, 'of'> | null;
  jobs: Pick<JobsService, 'endJobsOf' | 'changes'>;
  forwards: Pick<ForwardsService, 'closeAllOf' | 'cut'>;
  terminals: Pick<TerminalsService, 'endAllOf' | 'cut'>;
}

/** A router that was removed, or whose hardware was replaced. */
export type RemovalChange =
  | { kind: 'removed'; router: RouterRecord }
  | {
      kind: 'replaced';
      /** Its present record. */
      router: RouterRecord;
      /** Its former hardware id. */
      formerHardwareId: string;
      formerSerialNumber: string | null;
      /** The former record of the new hardware, which is no longer shown. */
      mergedId: string;
    };

/** What ended with a router. */
export interface Ended {
  jobsCanceled: number;
  /** Jobs that a revoked agent had accepted: they may have run. */
  jobsUnknown: number;
  forwardsClosed: number;
}

/** A router whose hardware is replaced by that of another record. */
export interface Replacement {
  teamId: string;
  /** The router that stays. */
  routerId: string;
  /** The record of the new hardware. */
  replacedBy: string;
  /** Run the queued jobs of the old hardware on the new one. */
  keepJobs: boolean;
  now: number;
  /** What other control planes hear of both, by `reporterKey`. */
  heard: ReadonlyMap<string, Heard>;
}
