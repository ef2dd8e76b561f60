import type { Clock } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import type { Storage, Tx } from '../../../platform/storage/db.ts';
import type { DeviceLimits } from '../limits.ts';
import { confirmReports, upsertSightedOf } from '../store.ts';
import type { RouterSightings } from '../store.ts';
import { isContended, selectUnseen } from './store.ts';
import type { WholeReport } from './store.ts';

/** Devices of one transaction: some 10 ms on SQLite, as for one report (devices/store.ts). */
const DEVICES_AT_ONCE = 500;

export interface FirstReportsDeps {
  storage: Storage;
  clock: Pick<Clock, 'now'>;
  limits: DeviceLimits;
}

/** First reports of routers: all of a fleet's when it connects for the first time. Those of many routers are stored by a few statements. */
export class FirstReports {
  readonly #deps: FirstReportsDeps;

  constructor(deps: FirstReportsDeps) {
    this.#deps = deps;
  }

  /**
   * Stores those of these reports of a team that are the first of their routers.
   * @returns what is stored; anything else has to be stored by itself @throws AppError `unavailable`
   */
  async store(teamId: string, reports: readonly WholeReport[]): Promise<Set<WholeReport>> {
    // Two agents may report a router that moves from one to the other: the later report is compared with the earlier one.
    const once = [...new Map(reports.toReversed().map((report) => [report.routerId, report])).values()].toReversed();
    const stored = new Set<WholeReport>();
    if (once.length < 2) return stored;
    const { storage, limits } = this.#deps;
    const unseen = await selectUnseen(storage.db, teamId, idsOf(once));
    // After a restart, reports that are not the first ones have changed a little.
    if (unseen.size < 2) return stored;
    await limits.prepare(storage.db, teamId);
    for (const some of inTransactions(once.filter(({ routerId }) => unseen.has(routerId))))
      for (const report of await this.#storeSome(teamId, some)) stored.add(report);
    return stored;
  }

  async #storeSome(teamId: string, reports: readonly WholeReport[]): Promise<WholeReport[]> {
    const { storage, limits } = this.#deps;
    try {
      const { first, added } = await storage.writes.write((tx) => this.#write(tx, teamId, reports));
      for (const { scope, sighted } of first) limits.added(scope, sighted.filter(({ newId }) => added.has(newId)).length);
      const routerIds = new Set(first.map(({ scope }) => scope.routerId));
      return reports.filter(({ routerId }) => routerIds.has(routerId));
    } catch (error) {
      if (error instanceof AppError && error.code === 'unavailable' && !isContended(error)) throw error;
      // What is wrong with one of them shows when each is stored by itself.
      return [];
    }
  }

  async #write(tx: Tx, teamId: string, reports: readonly WholeReport[]): Promise<{ first: RouterSightings[]; added: Set<string> }> {
    // Again inside the transaction: a router may move to another site, or be reported by another agent, at any time.
    const scopes = await selectUnseen(tx, teamId, idsOf(reports));
    const first = reports.flatMap(({ routerId, sighted }) => {
      const scope = scopes.get(routerId);
      return scope ? [{ scope, sighted }] : [];
    });
    // Near a limit it matters which devices are new.
    if (first.length === 0 || !(await this.#deps.limits.haveRoom(tx, teamId, first))) return { first: [], added: new Set() };
    const now = this.#deps.clock.now();
    const added = await upsertSightedOf(tx, first, now);
    await confirmReports(
      tx,
      first.map(({ scope: { routerId } }) => ({ routerId, at: now })),
    );
    return { first, added };
  }
}

const idsOf = (reports: readonly WholeReport[]): string[] => reports.map(({ routerId }) => routerId);

/** In pieces of so many devices that one transaction keeps nobody waiting; one report at least. */
function inTransactions(reports: readonly WholeReport[]): WholeReport[][] {
  const pieces: WholeReport[][] = [];
  let room = 0;
  for (const report of reports) {
    if (room < report.sighted.length || pieces.length === 0) {
      pieces.push([]);
      room = DEVICES_AT_ONCE;
    }
    pieces.at(-1)!.push(report);
    room -= report.sighted.length;
  }
  return pieces;
}
