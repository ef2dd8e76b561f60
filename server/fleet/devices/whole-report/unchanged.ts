import type { Clock } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import { Gathered } from '../../../platform/core/gathered.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { confirmReports } from '../store.ts';
import { selectUnchanged } from './store.ts';
import type { WholeReport } from './store.ts';

/** Reports compared together: with the most devices of each they are 5,000 rows, some 10 ms. */
const AT_ONCE = 50;
/** A report of more devices is compared by itself. */
const MOST_DEVICES = 100;

/**
 * Whole reports that say what is stored, as nearly all do of agents that connect again: those of many routers take three statements together
 * instead of four each.
 */
export class UnchangedReports {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #reports: Gathered<WholeReport, boolean>;

  /** @param apartMs how far statements are apart when many agents connect (AGENTS_APART_MS) */
  constructor(storage: Storage, clock: Clock, apartMs: number) {
    this.#storage = storage;
    this.#clock = clock;
    this.#reports = new Gathered({
      most: AT_ONCE,
      apartMs,
      run: (reports) => this.#confirmAll(reports),
      keyOf: ({ routerId }) => routerId,
    });
  }

  /**
   * Confirms the report if it says what is stored. @returns false when it has to be stored, or could not be compared together with others
   * @throws AppError `unavailable`
   */
  async confirm(report: WholeReport): Promise<boolean> {
    return report.sighted.length <= MOST_DEVICES && this.#reports.call(report);
  }

  stop(): Promise<void> {
    return this.#reports.stop();
  }

  /** A transaction for each team. */
  async #confirmAll(reports: readonly WholeReport[]): Promise<boolean[]> {
    const unchanged = new Set<WholeReport>();
    for (const [teamId, ofTeam] of Map.groupBy(reports, (report) => report.teamId))
      for (const report of await this.#confirmOfTeam(teamId, ofTeam)) unchanged.add(report);
    return reports.map((report) => unchanged.has(report));
  }

  async #confirmOfTeam(teamId: string, reports: readonly WholeReport[]): Promise<readonly WholeReport[]> {
    const at = this.#clock.now();
    try {
      return await this.#storage.writes.write(async (tx) => {
        const unchanged = await selectUnchanged(tx, teamId, reports, AT_ONCE * MOST_DEVICES);
        await confirmReports(
          tx,
          unchanged.map(({ routerId }) => ({ routerId, at })),
        );
        return unchanged;
      });
    } catch (error) {
      if (error instanceof AppError && error.code === 'unavailable') throw error;
      // What is wrong with one of them shows when each is stored by itself.
      return [];
    }
  }
}
