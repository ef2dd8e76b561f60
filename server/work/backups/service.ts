import { setImmediate } from 'node:timers/promises';
import type { BackupPart } from '../../../protocol/index.ts';
import type { SharedUse } from '../../../runtime/fair-shares.ts';
import type { AgentConnection, AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { AppError, notFound } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Found, ListPage } from '../../platform/core/list-page.ts';
import type { Page } from '../../platform/core/page.ts';
import { findBackups } from './list/store.ts';
import type { BackupFilter } from './list/types.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import type { Members } from '../../platform/nodes/members.ts';
import type { JobsService } from '../jobs/service.ts';
import type { JobRecord } from '../jobs/types.ts';
import type { RoutersService } from '../../fleet/routers/service.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { Secrets } from '../../platform/storage/secrets.ts';
import { unseal } from './content.ts';
import { ConfigChanges } from './changes/config-changes.ts';
import { DiffThreads } from './diff/diff-threads.ts';
import type { ExportText } from './diff/diff-threads.ts';
import { BackupFetcher } from './fetcher.ts';
import {
  deleteBackups,
  removeFiles,
  hasten,
  insertRequested,
  isRouterThere,
  isUnique,
  lockTeam,
  recordBackup,
  selectBackup,
  selectBackups,
  selectContent,
  selectBeyond,
  selectAged,
  selectMissed,
  selectParts,
  selectRouterIds,
  selectSurplus,
  selectWaitingOf,
} from './store.ts';
import type { EndedJob } from './store.ts';
import { selectBeyondKept } from './schedules/store.ts';
import { DEFAULT_BACKUP_RULES, RAN_WITHOUT_BEGIN } from './types.ts';
import type { Backup, BackupChange, BackupDiff, BackupFile, BackupRecord, BackupRules, ConfigChange, TakenPart } from './types.ts';

const SWEEP_EVERY_MS = 10 * 60_000;
/** Rows in one statement: it blocks the database for a few milliseconds. */
const SWEEP_AT_ONCE = 100;
/** Routers whose backups are counted at a time, up to 50 and those of a schedule each: some milliseconds. */
const ROUTERS_AT_ONCE = 20;
/** When a team has stored this part of its limit, it is checked before the next sweep. */
const LOOK_AFTER_SHARE = 100;

export interface BackupsDeps {
  storage: Storage;
  gateway: Pick<AgentGateway, 'request' | 'isConnected'>;
  routers: Pick<RoutersService, 'getRouter'>;
  jobs: Pick<JobsService, 'getJob' | 'changes'>;
  secrets: Pick<Secrets, 'encrypt' | 'decrypt'>;
  clock: Clock;
  log: Log;
  counters: Counters;
  rules?: BackupRules;
  members?: Pick<Members, 'isOwn'> | undefined;
}

const FAILURE = 'the maintenance of backups failed';

/** Backups of routers: recorded when a job with a backup ends, then fetched, kept for a time, and compared. */
export class BackupsService {
  /** Every backup that this process stores. */
  readonly changes = new Listeners<BackupChange>();
  /** Exports that differ from the ones before them. */
  readonly configChanges = new Listeners<ConfigChange>();
  readonly #deps: BackupsDeps;
  readonly #rules: BackupRules;
  readonly #fetcher: BackupFetcher;
  readonly #diffs: DiffThreads;
  readonly #configChanges: ConfigChanges;
  /** Bytes stored since a team's backups were last added up; only of teams that stored some. */
  readonly #stored = new Map<string, number>();
  #unsubscribe: (() => void) | undefined;
  readonly #sweeps: Periodic;
  readonly #stopping = new AbortController();
  /** Agents that have connected since their waiting backups were last looked for. */
  readonly #returned = new Set<string>();
  /** Writes that no caller awaits. They never reject. */
  #background: Promise<void> = Promise.resolve();

  constructor(deps: BackupsDeps) {
    this.#deps = deps;
    this.#rules = deps.rules ?? DEFAULT_BACKUP_RULES;
    this.#diffs = new DiffThreads(deps.counters);
    this.#sweeps = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: SWEEP_EVERY_MS,
      failure: FAILURE,
      level: 'error',
      run: () => this.#later(() => this.#sweep()),
    });
    this.#configChanges = new ConfigChanges({
      ...deps,
      compare: (from, to) => this.#diff(from, to, undefined),
      publish: (change) => this.configChanges.publish(change),
    });
    this.#fetcher = new BackupFetcher({
      ...deps,
      rules: this.#rules,
      onPart: (teamId, bytes) => this.#count(teamId, bytes),
      onStored: (backup) => this.changes.publish({ kind: 'stored', backup }),
    });
  }

  /** Fetches in progress. */
  get fetches(): SharedUse {
    return this.#fetcher.shares;
  }

  start(): void {
    this.#unsubscribe = this.#deps.jobs.changes.subscribe((job) => {
      if (hasLeftBackup(job)) void this.#later(() => this.#note([job]));
    });
    this.#fetcher.start();
    this.#configChanges.start();
    this.#sweeps.start();
    void this.#later(() => this.#recordMissed());
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#unsubscribe?.();
    await this.#sweeps.stop();
    await this.#configChanges.stop();
    await this.#background;
    await this.#fetcher.stop();
  }

  /** The agent is back, so the files on its routers can be fetched. */
  onReady({ agentId }: AgentConnection): void {
    const isFirst = this.#returned.size === 0;
    this.#returned.add(agentId);
    if (isFirst) void this.#later(() => this.#hastenReturned());
  }

  /** Most agents come back without a backup that waits for them: that costs a read for hundreds of them together, and no write. */
  async #hastenReturned(): Promise<void> {
    const { storage, clock } = this.#deps;
    // Those of this turn of the event loop, too.
    await setImmediate();
    const agentIds = [...this.#returned];
    this.#returned.clear();
    const waiting = await selectWaitingOf(storage.db, agentIds, clock.now());
    if (waiting.length === 0) return;
    await storage.writes.write((tx) => hasten(tx, waiting, clock.now()));
    this.#fetcher.wake();
  }

  /**
   * A backup without a job. It is fetched like the others; while the agent is away, it waits.
   * @throws AppError `not_found` for the router; `conflict` while one that was asked for waits
   */
  async takeNow(teamId: string, routerId: string, parts: readonly TakenPart[]): Promise<Backup> {
    const { storage, routers, clock } = this.#deps;
    const router = await routers.getRouter(teamId, routerId);
    const now = clock.now();
    const record = await storage.writes
      .write(async (tx) => {
        // A removal holds the team, too.
        await lockTeam(tx, teamId);
        if (!(await isRouterThere(tx, { teamId, routerId: router.id }))) throw notFound('router');
        return insertRequested(tx, { id: newId(now), teamId, routerId: router.id, parts, now });
      })
      .catch((error: unknown) => {
        throw isUnique(error) ? new AppError('conflict', 'a backup of this router is under way', { cause: error }) : error;
      });
    this.#fetcher.wake();
    return { record, parts: [] };
  }

  /** Newest first. @throws AppError `not_found` for the router */
  async listBackups(teamId: string, routerId: string, page: Page): Promise<Backup[]> {
    const { storage, routers } = this.#deps;
    const router = await routers.getRouter(teamId, routerId, { orRemoved: true });
    const records = await selectBackups(storage.db, { teamId, routerId: router.id, page });
    return this.#withParts(teamId, records);
  }

  /** One page of the backups of a team that match. */
  async listTeamBackups(teamId: string, filter: BackupFilter, page: ListPage, wantsTotal: boolean): Promise<Found<Backup>> {
    const { rows, total } = await findBackups(this.#deps.storage.db, teamId, filter, page, wantsTotal);
    return { rows: await this.#withParts(teamId, rows), total };
  }

  async #withParts(teamId: string, records: readonly BackupRecord[]): Promise<Backup[]> {
    const parts = await selectParts(
      this.#deps.storage.db,
      teamId,
      records.map(({ id }) => id),
    );
    const byBackup = Map.groupBy(parts, ({ backup_id: id }) => id);
    return records.map((record) => ({ record, parts: byBackup.get(record.id) ?? [] }));
  }

  /** @throws AppError `not_found` for the backup, and for a part that the control plane does not have */
  async readFile(teamId: string, routerId: string, backupId: string, part: BackupPart): Promise<BackupFile> {
    const backup = await this.#get(teamId, routerId, backupId);
    const content = await this.#read(backup, part);
    const moment = new Date(backup.created_at).toISOString().slice(0, 19).replaceAll(':', '');
    return { name: `${routerId}-${moment}${part === 'export_after' ? '-after' : ''}.${part === 'binary' ? 'backup' : 'rsc'}`, content };
  }

  /**
   * What changed on the router between the backups of two jobs.
   * @param signal aborts when the caller has disconnected
   * @throws AppError as {@link readFile} and {@link DiffThreads.compare}
   */
  async compare(teamId: string, routerId: string, ids: { from: string; to: string }, signal?: AbortSignal): Promise<BackupDiff> {
    const [from, to] = [await this.#get(teamId, routerId, ids.from), await this.#get(teamId, routerId, ids.to)];
    return this.#diff({ record: from, part: 'export' }, { record: to, part: 'export' }, signal);
  }

  /**
   * What a job changed on its router.
   * @throws AppError `not_found` for the job; `conflict` when an export from before or after it is missing or not fetched yet
   */
  async changesOf(teamId: string, routerId: string, jobId: string, signal?: AbortSignal): Promise<BackupDiff> {
    const job = await this.#deps.jobs.getJob(teamId, routerId, jobId);
    const record = await selectBackup(this.#deps.storage.db, { teamId, routerId, jobId: job.id });
    if (record?.state === 'pending') throw new AppError('conflict', 'the exports have not been fetched from the router yet');
    if (!record) throw new AppError('conflict', 'there is no backup of this job');
    const parts = await selectParts(this.#deps.storage.db, teamId, [record.id]);
    const isWhole = (['export', 'export_after'] as const).every((part) => parts.some((row) => row.part === part));
    if (!isWhole) throw new AppError('conflict', 'this job has no exports from before and after it');
    return this.#diff({ record, part: 'export' }, { record, part: 'export_after' }, signal);
  }

  async #diff(
    from: { record: BackupRecord; part: BackupPart },
    to: { record: BackupRecord; part: BackupPart },
    signal: AbortSignal | undefined,
  ): Promise<BackupDiff> {
    const side = async ({ record, part }: typeof from): Promise<ExportText> => ({
      name: `${record.id} ${part}`,
      content: await this.#read(record, part),
    });
    const text = await this.#diffs.compare(from.record.team_id, async () => ({ before: await side(from), after: await side(to) }), signal);
    return { from: from.record, to: to.record, ...text };
  }

  async #get(teamId: string, routerId: string, id: string): Promise<BackupRecord> {
    const backup = await selectBackup(this.#deps.storage.db, { teamId, routerId, id });
    if (!backup) throw notFound('backup');
    return backup;
  }

  async #read({ id: backupId, team_id: teamId }: BackupRecord, part: BackupPart): Promise<Buffer> {
    const sealed = await selectContent(this.#deps.storage.db, teamId, backupId, part);
    if (sealed === undefined) throw notFound(`${part} of this backup`);
    return unseal(this.#deps.secrets, { backupId, part }, sealed);
  }

  async #note(jobs: readonly EndedJob[]): Promise<void> {
    const { storage, clock } = this.#deps;
    const now = clock.now();
    await storage.writes.write(async (tx) => {
      for (const job of jobs) await recordBackup(tx, job, { id: newId(now), now });
    });
    this.#fetcher.wake();
  }

  /** Fallback for backups whose notice to {@link start} was missed. */
  async #recordMissed(): Promise<void> {
    const jobs = await selectMissed(this.#deps.storage.db, SWEEP_AT_ONCE);
    if (jobs.length > 0) await this.#note(jobs);
  }

  async #sweep(): Promise<void> {
    const { storage, clock } = this.#deps;
    await this.#recordMissed();
    const { keepMs, keepPerRouter } = this.#rules;
    await this.#deleteAll(() => selectAged(storage.db, clock.now() - keepMs, SWEEP_AT_ONCE));
    for (let after: string | undefined = ''; after !== undefined && !this.#stopping.signal.aborted;) {
      const routerIds: string[] = await selectRouterIds(storage.db, after, ROUTERS_AT_ONCE);
      if (routerIds.length > 0) await this.#deleteAll(() => selectSurplus(storage.db, { routerIds, keepPerRouter, limit: SWEEP_AT_ONCE }));
      await setImmediate();
      after = routerIds.length < ROUTERS_AT_ONCE ? undefined : routerIds.at(-1);
    }
    await this.#deleteAll(() => selectBeyondKept(storage.db, SWEEP_AT_ONCE));
    const teams = [...this.#stored.keys()];
    this.#stored.clear();
    for (const teamId of teams) await this.#makeRoom(teamId);
  }

  async #deleteAll(select: () => Promise<string[]>): Promise<void> {
    for (let count = SWEEP_AT_ONCE; count === SWEEP_AT_ONCE && !this.#stopping.signal.aborted;) {
      const ids = await select();
      if (ids.length > 0) await this.#delete(ids);
      count = ids.length;
    }
  }

  /** Their files first. When it stops in between, the next sweep goes on. */
  async #delete(ids: readonly string[]): Promise<void> {
    const { storage } = this.#deps;
    const { signal } = this.#stopping;
    await removeFiles(storage, ids, signal);
    if (!signal.aborted) await storage.writes.write((tx) => deleteBackups(tx, ids));
  }

  /** Checks a team that stores very much before the next sweep. */
  #count(teamId: string, bytes: number): void {
    const stored = (this.#stored.get(teamId) ?? 0) + bytes;
    const isMuch = stored >= this.#rules.keepBytesPerTeam / LOOK_AFTER_SHARE;
    this.#stored.set(teamId, isMuch ? 0 : stored);
    if (isMuch) void this.#later(() => this.#makeRoom(teamId));
  }

  async #makeRoom(teamId: string): Promise<void> {
    const { storage, counters } = this.#deps;
    for (let count = SWEEP_AT_ONCE; count === SWEEP_AT_ONCE && !this.#stopping.signal.aborted;) {
      const beyond = await selectBeyond(storage.db, { teamId, most: this.#rules.keepBytesPerTeam, limit: SWEEP_AT_ONCE });
      if (beyond.length > 0) counters.add('backup_bytes_per_team');
      await this.#delete(beyond);
      count = beyond.length;
    }
  }

  /** Runs one after the other. @returns a promise that resolves when it is done and never rejects */
  #later(work: () => Promise<void>): Promise<void> {
    this.#background = this.#background.then(work).catch((error: unknown) => this.#deps.log.error({ err: error }, FAILURE));
    return this.#background;
  }
}

/** The script has run or may have run, so the backup before it exists. */
function hasLeftBackup(job: JobRecord): boolean {
  const hasEnded = job.phase === 'done' || job.phase === 'unknown';
  return job.make_backup === 1 && hasEnded && (job.started_at !== null || hasRunUnheard(job));
}

function hasRunUnheard({ reason, output }: JobRecord): boolean {
  return (RAN_WITHOUT_BEGIN as readonly (string | null)[]).includes(reason) || (reason === 'script_error' && output !== null);
}
