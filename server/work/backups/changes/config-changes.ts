import type { Clock } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import type { Log } from '../../../platform/core/log.ts';
import { Periodic } from '../../../platform/core/periodic.ts';
import { insertNotices } from '../../../platform/notices/store.ts';
import type { Members } from '../../../platform/nodes/members.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { markCompared, selectBefore, selectUncompared } from './store.ts';
import type { BackupRecord, ConfigChange, ExportOf } from '../types.ts';
import { configNotice } from './notices.ts';

export interface ConfigChangesDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  /** In a thread, as for everybody who compares. @returns the unified difference */
  compare: (from: ExportOf, to: ExportOf) => Promise<{ diff: string }>;
  publish: (change: ConfigChange) => void;
  /** Of several control planes, one compares. */
  members?: Pick<Members, 'isOwn'> | undefined;
}

/** Of an index that is empty nearly always. */
const LOOK_EVERY_MS = 3_000;
/** Read at once; they are compared one after the other. */
const AT_ONCE = 50;

/**
 * Compares each export that was taken without a job to the one before it, and says when the configuration has changed. One at a time for
 * all teams, so that the night of a large team takes a part of one core. The database has what is still to be compared: a control plane
 * that is killed goes on where it was.
 */
export class ConfigChanges {
  readonly #deps: ConfigChangesDeps;
  readonly #looks: Periodic;

  constructor(deps: ConfigChangesDeps) {
    this.#deps = deps;
    this.#looks = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: LOOK_EVERY_MS,
      failure: 'exports could not be compared',
      run: (signal) => (deps.members?.isOwn('comparisons of exports') === false ? undefined : this.compareAll(signal)),
    });
  }

  start(): void {
    this.#looks.start();
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
  }

  /** Compares what is due. @throws a storage error */
  async compareAll(signal: AbortSignal): Promise<void> {
    const { storage } = this.#deps;
    for (;;) {
      const due = await selectUncompared(storage.db, AT_ONCE);
      for (const backup of due) {
        if (signal.aborted || !(await this.#compare(backup))) return;
      }
      if (due.length < AT_ONCE) return;
    }
  }

  /** @returns false when too many comparisons wait: it is tried again later */
  async #compare(backup: BackupRecord): Promise<boolean> {
    const { storage, clock, publish } = this.#deps;
    const before = await selectBefore(storage.db, backup);
    const lines = before && (await this.#linesBetween(before, { record: backup, part: 'export' }));
    if (lines === 'later') return false;
    const hasChanged = lines !== undefined && (lines === 'unknown' || lines.added + lines.removed > 0);
    const change = before && hasChanged && { from: before.record, to: backup, lines: lines === 'unknown' ? undefined : lines };
    const isFirst = await storage.writes.write(async (tx) => {
      if (!(await markCompared(tx, backup, hasChanged))) return false;
      const now = clock.now();
      if (change) await insertNotices(tx, [configNotice(change)], now);
      return true;
    });
    if (isFirst && change) publish(change);
    return true;
  }

  /** `unknown`: too large or too different to be compared, so something has changed. */
  async #linesBetween(from: ExportOf, to: ExportOf): Promise<{ added: number; removed: number } | 'unknown' | 'later'> {
    try {
      const { diff } = await this.#deps.compare(from, to);
      const count = (sign: string): number => diff.split('\n').filter((line) => line.startsWith(sign)).length;
      // The two lines with the names of the files.
      return diff === '' ? { added: 0, removed: 0 } : { added: count('+') - 1, removed: count('-') - 1 };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'rate_limited') return 'later';
      this.#deps.log.warn({ err: error, router_id: to.record.router_id }, 'two exports could not be compared');
      return 'unknown';
    }
  }
}
