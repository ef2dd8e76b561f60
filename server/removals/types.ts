import type { RouterRecord } from '../routers/types.ts';

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
