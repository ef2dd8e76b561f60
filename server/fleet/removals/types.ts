import type { Clock } from '../../platform/core/clock.ts';
import type { ForwardsService } from '../../work/forwards/service.ts';
import type { JobsService } from '../../work/jobs/service.ts';
import type { RoutersService } from '../routers/service.ts';
import type { RouterRecord } from '../routers/types.ts';
import type { Storage } from '../../platform/storage/db.ts';

export interface RemovalsDeps {
  storage: Storage;
  clock: Clock;
  routers: Pick<RoutersService, 'reasonStillHeld' | 'presence'>;
  jobs: Pick<JobsService, 'withdrawFrom' | 'changes'>;
  forwards: Pick<ForwardsService, 'closeAllOf' | 'cut'>;
}

/** A router that is no more, or goes on with other hardware. */
export type RemovalChange =
  | { kind: 'removed'; router: RouterRecord }
  | {
      kind: 'replaced';
      /** As it is now. */
      router: RouterRecord;
      /** The hardware id that it had before. */
      formerHardwareId: string;
      formerSerialNumber: string | null;
      /** The record of the new hardware, which is shown nowhere any more. */
      mergedId: string;
    };

/** What ended with a router. */
export interface Ended {
  jobsCanceled: number;
  /** Of an agent that was revoked: they may have run. */
  jobsUnknown: number;
  forwardsClosed: number;
}

/** One router that goes on with the hardware of another. */
export interface Replacement {
  teamId: string;
  /** The router that goes on. */
  routerId: string;
  /** The record of the new hardware. */
  replacedBy: string;
  /** Run the jobs that wait for the old hardware on the new one. */
  keepJobs: boolean;
  now: number;
}
