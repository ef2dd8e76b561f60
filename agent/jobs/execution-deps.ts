import type { JobResult } from '../../protocol/index.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { RouterAdapter } from '../routers/adapter.ts';
import type { GuardDeps } from './guard/undo-guard.ts';
import type { BootMark } from './journal/records.ts';
import type { ExecutionTimes } from './times.ts';

/** The part of the journal that an execution uses. */
export interface ExecutionJournal {
  guard(jobId: string, boot: BootMark): Promise<void>;
  disarmed(jobId: string): Promise<void>;
  begin(jobId: string, boot: BootMark): Promise<void>;
  end(jobId: string, result: JobResult): Promise<void>;
}

export interface ExecutionDeps {
  router: RouterAdapter;
  journal: ExecutionJournal;
  clock: Clock;
  log: Log;
  times: ExecutionTimes;
  isAlive: GuardDeps['isAlive'];
  /** When `go` came, by the clock's `monotonic`. */
  permittedAt: number;
  /** BEGIN is on disk. */
  onBegun: () => void;
  /** The undo guard is armed and fires in so many milliseconds; null: it was removed. */
  onGuard: (firesInMs: number | null) => void;
}

/** Records of earlier processes about a job. */
export interface EarlierRecords {
  begun: BootMark | undefined;
  guard: BootMark | undefined;
}
