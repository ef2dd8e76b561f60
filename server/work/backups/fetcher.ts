import type { BackupPart } from '../../../protocol/index.ts';
import { FairShares } from '../../../runtime/fair-shares.ts';
import type { Holder } from '../../../runtime/fair-shares.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import { chooseFairly } from '../../platform/core/choose-fairly.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { AppError } from '../../platform/core/errors.ts';
import type { Log } from '../../platform/core/log.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { Secrets } from '../../platform/storage/secrets.ts';
import { seal, sha256Of, contentProblem } from './content.ts';
import { claimDue, insertPart, selectDue, selectDueTeams, selectParts, selectWay, updateBackup } from './store.ts';
import type { DueBackup, Progress } from './store.ts';
import { RouterFiles, nameOf, wantedParts } from './router-files.ts';
import type { Way } from './router-files.ts';
import { PARTS } from './types.ts';
import type { BackupRecord, BackupRules } from './types.ts';

export interface FetcherDeps {
  storage: Storage;
  gateway: Pick<AgentGateway, 'request' | 'isConnected'>;
  secrets: Pick<Secrets, 'encrypt'>;
  clock: Clock;
  log: Log;
  rules: BackupRules;
  /** A file was stored. */
  onPart: (teamId: string, bytes: number) => void;
  /** A backup has become `stored`. */
  onStored: (backup: BackupRecord) => void;
}

/** For short operations: listing and removing files. */
const ERRAND_MS = 30_000;
/** Fallback poll for missed wake-ups. */
const POLL_EVERY_MS = 30_000;
/** Retry interval while the agent is away. The agent's return makes the backup due at once. */
const AWAY_MS = 10 * 60_000;
/** Longest time ahead at which an attempt is planned, milliseconds; a lease is shorter. */
export const LONGEST_RETRY_MS = 3600_000;
/** Candidates of one team: slightly more than it may fetch at once. */
const LOOK_AT = 8;
/** Longer than all parts together may take: after that the process that held the lease has died. */
const LEASE_FACTOR = 4;

/**
 * Fetches backups from routers into the database. A file is removed from its router only after its content is committed. Every step can be
 * repeated, and a fetched part is not fetched again.
 */
export class BackupFetcher {
  readonly #deps: FetcherDeps;
  /** Fetches in progress, by team and by agent. */
  readonly shares: FairShares;
  readonly #fetching = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #files: RouterFiles;
  readonly #polls: Periodic;
  #claiming: Promise<void> | undefined;
  #again = false;

  constructor(deps: FetcherDeps) {
    this.#deps = deps;
    this.shares = new FairShares(deps.rules.fetchAtOnce);
    this.#files = new RouterFiles({ ...deps, signal: this.#stopping.signal });
    this.#polls = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: POLL_EVERY_MS,
      failure: 'the search for due backups failed',
      run: () => this.wake(),
    });
  }

  start(): void {
    this.#polls.start();
  }

  /** Aborts the fetches in progress; they become due again later. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#polls.stop();
    await this.#claiming;
    await Promise.all(this.#fetching);
  }

  /** A backup may be due: checks at once. */
  wake(): void {
    if (this.#stopping.signal.aborted) return;
    if (this.#claiming) this.#again = true;
    else this.#claiming = this.#claim();
  }

  /** Claims no more than can be fetched now, so that no claimed backup waits until its lease ends. */
  async #claim(): Promise<void> {
    do {
      this.#again = false;
      try {
        await this.#claimSome();
      } catch (error) {
        this.#deps.log.error({ err: error }, 'backups that are due could not be read');
      }
    } while (this.#again && !this.#stopping.signal.aborted);
    this.#claiming = undefined;
  }

  async #claimSome(): Promise<void> {
    const { storage, clock, rules } = this.#deps;
    if (this.shares.taken >= this.shares.limits.total) return;
    const now = clock.now();
    const chosen = new Map((await this.#takeDue(now)).map((due) => [due.id, { party: due.team_id, member: due.agent_id }]));
    if (chosen.size === 0) return;
    try {
      const claim = { ids: [...chosen.keys()], now, until: now + LEASE_FACTOR * rules.readMs };
      for (const backup of await storage.writes.write((tx) => claimDue(tx, claim))) {
        this.#begin(backup, chosen.get(backup.id)!);
        chosen.delete(backup.id);
      }
    } finally {
      // Another process was faster.
      for (const holder of chosen.values()) this.shares.giveBack(holder);
    }
  }

  /** Chooses what may be fetched now, within the share of each team and of each of its agents. */
  async #takeDue(now: number): Promise<DueBackup[]> {
    const { db } = this.#deps.storage;
    const busy = new Set(this.shares.busyParties);
    const teams = (await selectDueTeams(db, 'backups', now)).filter((teamId) => !busy.has(teamId));
    const due = await Promise.all(
      teams.map((teamId) => selectDue(db, { teamId, now, busyAgents: this.shares.busyMembers(teamId), limit: LOOK_AT })),
    );
    return chooseFairly(this.shares, due.flat(), (backup) => ({ party: backup.team_id, member: backup.agent_id }));
  }

  #begin(backup: BackupRecord, holder: Holder): void {
    const fetching = this.#work(backup).finally(() => {
      this.#fetching.delete(fetching);
      this.#files.forget(backup);
      this.shares.giveBack(holder);
      this.wake();
    });
    this.#fetching.add(fetching);
  }

  /** Never rejects. */
  async #work(backup: BackupRecord): Promise<void> {
    const { log, storage } = this.#deps;
    try {
      const next = await this.#advance(backup);
      await storage.writes.write((tx) => updateBackup(tx, backup, next));
      if (next.state === 'stored') this.#announce(backup, next);
    } catch (error) {
      // The lease ends, then it is retried.
      log.error({ err: error, router_id: backup.router_id }, 'a backup could not be fetched');
    }
  }

  async #advance(backup: BackupRecord): Promise<Progress> {
    const { storage, gateway, clock, rules } = this.#deps;
    const way = await selectWay(storage.db, backup);
    const isAway = !way || !gateway.isConnected(way.agentId);
    if (isAway && clock.now() - backup.created_at < rules.fetchWithinMs) return { ...kept(backup), dueAt: clock.now() + AWAY_MS };
    if (isAway) return this.#close(backup, backup.error ?? 'the router was unreachable for too long');
    return backup.state === 'pending' ? this.#fetch(backup, way) : this.#tidy(backup, way);
  }

  /** Fetches all missing parts. After the last attempt, the stored parts are the backup. */
  async #fetch(backup: BackupRecord, way: Way): Promise<Progress> {
    const { storage, clock, rules } = this.#deps;
    const stored = await this.#storedParts(backup);
    const missing: string[] = [];
    for (const part of wantedParts(backup).filter((each) => !stored.includes(each))) {
      const refusal = await this.#fetchPart(backup, way, part);
      if (refusal === undefined) continue;
      // Not every job leaves one: its router may have become unreachable.
      if (part !== 'export_after') missing.push(`${part}: ${refusal.message}`);
      if (!isFinal(refusal)) return this.#retry(backup, `${part}: ${refusal.message}`);
    }
    const error = missing.length === 0 ? null : missing.join('; ').slice(0, 1000);
    const now = await this.#storedParts(backup);
    if (!now.includes('binary') && !now.includes('export')) return this.#close(backup, error ?? 'nothing was found on the router');
    const next = { ...kept(backup), state: 'stored', storedAt: clock.now(), error, dueAt: clock.now() + rules.retryMs };
    await storage.writes.write((tx) => updateBackup(tx, backup, next));
    this.#announce(backup, next);
    backup.attempts = 0;
    return this.#files.mayHave(backup) ? this.#tidy(backup, way) : { ...kept(backup), dueAt: null };
  }

  /** Once for each backup, when it is committed. */
  #announce(backup: BackupRecord, { state, storedAt, error }: Progress): void {
    if (backup.state === state) return;
    Object.assign(backup, { state, stored_at: storedAt, error });
    this.#deps.onStored(backup);
  }

  /** @returns why the part could not be fetched; undefined when it is stored */
  async #fetchPart(backup: BackupRecord, way: Way, part: BackupPart): Promise<AppError | undefined> {
    const { storage, secrets, clock } = this.#deps;
    try {
      const content = await this.#files.obtain(backup, way, part);
      const refused = contentProblem(part, content);
      if (refused !== undefined) return new AppError('invalid', refused);
      const sealed = await seal(secrets, { backupId: backup.id, part }, content);
      const row = { backup_id: backup.id, team_id: backup.team_id, part, size: content.length, sha256: sha256Of(content) };
      await storage.writes.write((tx) => insertPart(tx, { ...row, content: sealed, stored_at: clock.now() }));
      this.#deps.onPart(backup.team_id, content.length);
      return undefined;
    } catch (error) {
      if (!(error instanceof AppError)) return new AppError('internal', 'it could not be stored', { cause: error });
      // A caller waits for it, so a router that refuses to save it is not asked again for hours.
      const isRefusal = backup.job_id === null && error.code === 'rejected_by_router';
      return isRefusal ? new AppError('invalid', error.message, { cause: error }) : error;
    }
  }

  /** Removes stored files from the router. An unreachable router removes old files by itself later. */
  async #tidy(backup: BackupRecord, way: Way): Promise<Progress> {
    const parts = await this.#storedParts(backup);
    const params = { router: way.router, hardware_id: way.hardwareId, job_id: nameOf(backup), parts };
    try {
      await this.#deps.gateway.request(way.agentId, 'backup.remove', params, { timeoutMs: ERRAND_MS, signal: this.#stopping.signal });
      return { ...kept(backup), dueAt: null };
    } catch (error) {
      this.#deps.log.info({ err: error, router_id: backup.router_id }, 'a stored backup could not be removed from its router yet');
      return backup.attempts + 1 >= this.#deps.rules.attempts ? { ...kept(backup), dueAt: null } : this.#retry(backup, backup.error);
    }
  }

  async #retry(backup: BackupRecord, error: string | null): Promise<Progress> {
    const { clock, rules } = this.#deps;
    const attempts = backup.attempts + 1;
    if (attempts >= rules.attempts) return this.#close(backup, error);
    const pause = Math.min(rules.retryMs * 2 ** backup.attempts, LONGEST_RETRY_MS);
    return { ...kept(backup), attempts, error, dueAt: clock.now() + pause };
  }

  /** Closes the backup with the parts that are stored. */
  async #close(backup: BackupRecord, error: string | null): Promise<Progress> {
    const parts = await this.#storedParts(backup);
    const isStored = parts.includes('binary') || parts.includes('export');
    const storedAt = isStored ? (backup.stored_at ?? this.#deps.clock.now()) : null;
    return { state: isStored ? 'stored' : 'lost', attempts: backup.attempts, dueAt: null, error, storedAt };
  }

  async #storedParts(backup: BackupRecord): Promise<BackupPart[]> {
    const rows = await selectParts(this.#deps.storage.db, backup.team_id, [backup.id]);
    return PARTS.filter((part) => rows.some((row) => row.part === part));
  }
}

function kept(backup: BackupRecord): Progress {
  return { state: backup.state, attempts: backup.attempts, dueAt: backup.due_at, error: backup.error, storedAt: backup.stored_at };
}

/** Whether another attempt would give the same result. */
function isFinal(error: AppError): boolean {
  return error.code === 'invalid' || error.code === 'too_large';
}
