import type { Clock } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import { Gathered } from '../../../platform/core/gathered.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { confirmReports } from '../store.ts';
import type { FirstReports } from './first-reports.ts';
import { selectUnchanged } from './store.ts';
import type { WholeReport } from './store.ts';

/** Reports compared together: with the most devices of each they are 5,000 rows, some 10 ms. */
const AT_ONCE = 50;
/** A report of more devices is compared by itself. */
const MOST_DEVICES = 100;
/** Teams whose reports are compared at the same time: each takes one of 10 connections (storage/postgres.ts), which others need, too. */
const TEAMS_AT_ONCE = 4;

export interface AgentReport extends WholeReport {
  agentId: string;
}

type Outcome = PromiseSettledResult<boolean>;

/**
 * Whole reports that say what is stored, as nearly all do of agents that connect again: those of many routers take three statements together
 * instead of four each.
 */
export class UnchangedReports {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #reports: Gathered<AgentReport, Outcome>;

  readonly #first: Pick<FirstReports, 'store'> | undefined;

  /**
   * @param apartMs how far statements are apart when many agents connect (AGENTS_APART_MS)
   * @param first stores first reports together that come together
   */
  constructor(storage: Storage, clock: Clock, apartMs: number, first?: Pick<FirstReports, 'store'>) {
    this.#first = first;
    this.#storage = storage;
    this.#clock = clock;
    this.#reports = new Gathered({
      most: AT_ONCE,
      apartMs,
      run: (reports) => this.#confirmAll(reports),
      // As with what agents report of their routers (moves/sightings.ts): one that sends them one by one waits for nobody.
      keyOf: ({ agentId }) => agentId,
    });
  }

  /**
   * Confirms the report if it says what is stored, and stores it if it came together with others and is the first of its router.
   * @returns false when it has to be stored, or could not be compared together with others
   * @throws AppError `unavailable`
   */
  async confirm(report: AgentReport): Promise<boolean> {
    if (report.sighted.length > MOST_DEVICES) return false;
    const outcome = await this.#reports.call(report);
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }

  stop(): Promise<void> {
    return this.#reports.stop();
  }

  /** A transaction for each team: what keeps one waiting, or fails, does so for no other. */
  async #confirmAll(reports: readonly AgentReport[]): Promise<Outcome[]> {
    const outcomes = new Map<AgentReport, Outcome>();
    const teams = Map.groupBy(reports, ({ teamId }) => teamId).entries();
    // All of them take the next team from the same iterator.
    const takeTeams = async (): Promise<void> => {
      for (const [teamId, ofTeam] of teams)
        for (const [index, outcome] of (await this.#settleTeam(teamId, ofTeam)).entries()) outcomes.set(ofTeam[index]!, outcome);
    };
    await Promise.all(Array.from({ length: TEAMS_AT_ONCE }, takeTeams));
    return reports.map((report) => outcomes.get(report)!);
  }

  /** @returns the outcomes in the order of the reports; never rejects */
  async #settleTeam(teamId: string, reports: readonly AgentReport[]): Promise<Outcome[]> {
    try {
      const settled = new Set(await this.#confirmOfTeam(teamId, reports));
      const others = reports.filter((report) => !settled.has(report));
      for (const report of (await this.#first?.store(teamId, others)) ?? []) settled.add(report);
      return reports.map((report) => ({ status: 'fulfilled', value: settled.has(report) }));
    } catch (reason) {
      return reports.map(() => ({ status: 'rejected', reason }));
    }
  }

  async #confirmOfTeam(teamId: string, reports: readonly WholeReport[]): Promise<readonly WholeReport[]> {
    const at = this.#clock.now();
    try {
      return await this.#storage.writes.write(async (tx) => {
        const unchanged = await selectUnchanged(tx, teamId, reports, AT_ONCE * MOST_DEVICES);
        // Two agents may report a router that moves from one to the other.
        const routerIds = new Set(unchanged.map(({ routerId }) => routerId));
        await confirmReports(
          tx,
          [...routerIds].map((routerId) => ({ routerId, at })),
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
