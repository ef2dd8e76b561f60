import { nextTurn } from '../../../platform/core/loop-turns.ts';
import type { Page } from '../../../platform/core/page.ts';
import type { DbOrTx } from '../../../platform/storage/db.ts';
import type { Status } from '../state.ts';
import { selectJobs } from '../store.ts';
import type { JobRecord } from '../types.ts';

/**
 * Output after which a page of a router's jobs ends, characters: 1,000 jobs may have printed 64 MB, which would take seconds to write out,
 * and as much memory for each caller. Outputs are short as a rule: 1,000 jobs of 4 kB fit.
 */
export const MOST_OUTPUT_OF_A_PAGE = 4 * 2 ** 20;
/** Jobs that are read at once: 3 MB. */
const STEP_JOBS = 50;

export interface JobPage {
  rows: readonly JobRecord[];
  /** The page ended before its limit, and there may be more. */
  isCut: boolean;
}

/** One page of the jobs of a router, newest first, with their output. Read in steps with turns of the event loop between them. */
export async function readJobPage(
  db: DbOrTx,
  query: { teamId: string; routerId: string; statuses: readonly Status[]; page: Page },
): Promise<JobPage> {
  const { limit } = query.page;
  const rows: JobRecord[] = [];
  let { before } = query.page;
  let printed = 0;
  for (;;) {
    const step = Math.min(STEP_JOBS, limit - rows.length);
    const read = await selectJobs(db, { ...query, page: { limit: step, before } });
    for (const job of read) {
      rows.push(job);
      printed += job.output?.length ?? 0;
      if (printed >= MOST_OUTPUT_OF_A_PAGE) return { rows, isCut: true };
    }
    const last = read.at(-1);
    if (last === undefined || read.length < step || rows.length === limit) return { rows, isCut: false };
    before = { at: last.created_at, id: last.id };
    await nextTurn();
  }
}
