import type { CredentialsService } from '../credentials/service.ts';
import type { CampaignsService } from '../../work/campaigns/service.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { Bus } from '../../platform/bus/types.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { AppError } from '../../platform/core/errors.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Page } from '../../platform/core/page.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import { within } from '../../platform/core/within.ts';
import type { Members } from '../../platform/nodes/members.ts';
import type { ForwardsService } from '../../work/forwards/service.ts';
import type { JobsService } from '../../work/jobs/service.ts';
import type { TerminalsService } from '../../work/terminals/service.ts';
import type { Storage } from '../../platform/storage/db.ts';
import {
  deleteRevocations,
  selectDue,
  selectKeysMadeBy,
  selectOpen,
  selectOpenCampaigns,
  selectOpenForwards,
  selectOpenJobs,
  selectRevocations,
  selectRole,
  storePass,
} from './store.ts';
import { add, MOST_LISTED } from './types.ts';
import type { Report, Revocation, Some } from './types.ts';

export interface RevocationsDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  credentials: Pick<CredentialsService, 'revokeApiKey'>;
  forwards: Pick<ForwardsService, 'revoke' | 'dropAgent'>;
  terminals: Pick<TerminalsService, 'dropAgent' | 'recheck' | 'endedOf'>;
  jobs: Pick<JobsService, 'cancelIfOpen'>;
  campaigns: Pick<CampaignsService, 'cancelCampaign'>;
  gateway: Pick<AgentGateway, 'disconnect'>;
  /** Where several control planes serve the database. */
  cluster?: { bus: Pick<Bus, 'publish' | 'listen'>; members: Pick<Members, 'isOwn'> } | null | undefined;
}

/** How often to check for revocations of other processes (`signalbox key revoke`). One read of an index that is nearly always empty. */
const CHECK_EVERY_MS = 1000;
/** Of several control planes one checks as often and tells the others. They check at every fifth time, in case they are not told. */
const CHECKS_APART = 5;
const DUE = 'signalbox.revocations.due';
/**
 * Delays of the passes after the first one: a request that was accepted just before the revocation may open something
 * just after it. No request that opens something takes a minute.
 */
const LATER_PASSES_MS = [2000, 10_000, 60_000];
/** How long a revoking request waits until everything has ended. The rest ends afterwards. */
const LONGEST_WAIT_MS = 5000;
/** Revocations that one pass over a team carries out, one after the other. */
const AT_ONCE = 100;
/** Revocations of one team whose connections are closed at the same time: as many as it may have API keys. */
const CUT_AT_ONCE = 1000;
/** Jobs per read. Canceling a job that an agent holds may take seconds, so they run in parallel. */
const JOBS_AT_ONCE = 50;
/** Same as the audit log. */
const KEPT_MS = 400 * 24 * 3_600_000;
/** Rows per statement. */
const CHUNK = 500;

/** Roles that may open forwards, jobs and campaigns. */
const OPERATING: ReadonlySet<string | undefined> = new Set(['operator', 'admin']);

/**
 * Ends what was opened by a caller who may no longer operate routers: their forwards with all connections, their terminals, their jobs
 * that have not begun, their campaigns. The revocation's transaction also stores this work in the database, so that a crash or
 * another process cannot lose it.
 */
export class RevocationsService {
  /** A right in this team was revoked: connections that outlive their request must be checked again. */
  readonly revoked = new Listeners<{ teamId: string }>();
  readonly #deps: RevocationsDeps;
  readonly #poll: Periodic;
  /**
   * The running pass of each team. Passes of one team run one after the other: two that end the same things would wait for each
   * other's answers. Teams do not wait for each other: an agent that never answers delays the pass of its team for minutes.
   */
  readonly #passes = new Map<string, Promise<void>>();
  /**
   * Connections that are being closed or were closed, by revocation and pass, with the ids of the forwards that ended. They do not wait
   * for the passes: an agent that does not give back the jobs of one key must not keep the forwards of another key open.
   */
  readonly #cuts = new Map<string, Promise<string[]>>();
  /** The pass of each team that is queued behind the running one. */
  readonly #queuedPasses = new Map<string, Promise<void>>();
  /**
   * How many passes over each open revocation this control plane has cut its own connections for. Of several control planes the
   * fastest carries a pass out, after which the others no longer find it due.
   */
  readonly #passesCut = new Map<string, number>();
  /** Times that another control plane was left to check. */
  #left = 0;

  constructor(deps: RevocationsDeps) {
    this.#deps = deps;
    this.#poll = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: CHECK_EVERY_MS,
      failure: 'revocations could not be read; trying again',
      run: () => this.#check(),
    });
    deps.cluster?.bus.listen(DUE, () => {
      if (!this.#poll.isStopped) void this.#onTold();
    });
  }

  start(): void {
    this.#poll.start();
  }

  async stop(): Promise<void> {
    await this.#poll.stop();
    await Promise.all(this.#passes.values());
  }

  /** Enforces the new revocations of this team. Waits for at most {@link LONGEST_WAIT_MS}; never rejects. */
  async enforce(teamId: string): Promise<void> {
    this.#deps.cluster?.bus.publish(DUE, {});
    await within(
      Promise.all([this.#cutNew([teamId]), this.#queuePass(teamId)]).then(() => undefined),
      LONGEST_WAIT_MS,
    );
  }

  /** Newest first. */
  async list(teamId: string, page: Page): Promise<Revocation[]> {
    return selectRevocations(this.#deps.storage.db, teamId, page);
  }

  /** Deletes old revocations. */
  async sweep(): Promise<void> {
    const { storage, clock } = this.#deps;
    const before = clock.now() - KEPT_MS;
    while ((await storage.writes.write((tx) => deleteRevocations(tx, before, CHUNK))) === CHUNK);
  }

  /** @throws a storage error */
  async #check(): Promise<void> {
    const { cluster } = this.#deps;
    const isOwn = cluster?.members.isOwn('revocations') !== false;
    this.#left = isOwn ? 0 : (this.#left + 1) % CHECKS_APART;
    if (this.#left > 0) return;
    await this.#findDue({ tells: isOwn });
  }

  /** Never rejects: the next check finds what could not be read. */
  async #onTold(): Promise<void> {
    await this.#findDue().catch((error: unknown) => this.#deps.log.warn({ err: error }, 'revocations could not be read; trying again'));
  }

  /** Starts a pass over every team with due revocations, unless one is running. @throws a storage error */
  async #findDue({ tells = false } = {}): Promise<void> {
    const { clock, cluster } = this.#deps;
    const now = clock.now();
    const open = await this.#readOpen();
    const teams = new Set(open.filter(({ dueAt }) => dueAt! <= now || dueAt! > latestOf(now)).map(({ teamId }) => teamId));
    // Before its own pass: after that they are not due.
    if (tells && teams.size > 0) cluster?.bus.publish(DUE, {});
    if (teams.size > 0) void this.#cutNew([...teams]);
    for (const teamId of teams) if (!this.#passes.has(teamId)) void this.#queuePass(teamId);
    void this.#cutMissed(open);
  }

  /** Revocations of all teams with passes to come. @throws a storage error */
  async #readOpen(): Promise<Revocation[]> {
    const open: Revocation[] = [];
    for (;;) {
      const page = await selectOpen(this.#deps.storage.db, open.at(-1), CHUNK);
      open.push(...page);
      if (page.length < CHUNK) return open;
    }
  }

  #queuePass(teamId: string): Promise<void> {
    // A queued pass has not begun and will see the latest revocation.
    const queued = this.#queuedPasses.get(teamId);
    if (queued) return queued;
    const before = this.#passes.get(teamId) ?? Promise.resolve();
    const pass = before
      .then(() => {
        this.#queuedPasses.delete(teamId);
        return this.#carryOutDue(teamId);
      })
      .then(() => {
        if (this.#passes.get(teamId) === pass) this.#passes.delete(teamId);
      });
    this.#queuedPasses.set(teamId, pass);
    this.#passes.set(teamId, pass);
    return pass;
  }

  /**
   * Closes the connections of all due revocations in parallel, and of those that another control plane carries out at this moment. What is due
   * is read first: a pass that is stored before that reading is seen by the second one. Never rejects: what could not be closed stays due.
   */
  async #cutNew(teamIds: readonly string[]): Promise<void> {
    const due = (await Promise.all(teamIds.map((teamId) => this.#readDue(teamId)))).flat();
    await Promise.allSettled([...due.map((revocation) => this.#cut(revocation)), this.#cutMissedNow()]);
  }

  /** Empty when it could not be read: the next check finds them. */
  async #readDue(teamId: string): Promise<Revocation[]> {
    const { storage, clock, log } = this.#deps;
    try {
      const now = clock.now();
      return await selectDue(storage.db, teamId, now, latestOf(now), CUT_AT_ONCE);
    } catch (error) {
      log.warn({ err: error, team_id: teamId }, 'revocations could not be read; trying again');
      return [];
    }
  }

  /** Closes this control plane's connections of revocations that another one has carried out before this one read them. Never rejects. */
  async #cutMissed(open: readonly Revocation[]): Promise<void> {
    this.#forgetEnded(new Set(open.map(({ id }) => id)));
    const missed = open.filter(({ id, passes }) => (this.#passesCut.get(id) ?? 0) < passes);
    await Promise.allSettled(missed.map((revocation) => this.#cutOwn(revocation, revocation.passes)));
  }

  /** The same, of one that was revoked just now. Never rejects: the next check finds what could not be read. */
  async #cutMissedNow(): Promise<void> {
    if (!this.#deps.cluster) return;
    await this.#readOpen().then(
      (open) => this.#cutMissed(open),
      (error: unknown) => this.#deps.log.warn({ err: error }, 'revocations could not be read; trying again'),
    );
  }

  /** @param open revocations with passes to come */
  #forgetEnded(open: ReadonlySet<string>): void {
    const cutting = new Set([...this.#cuts.keys()].map((key) => key.split(' ')[0]));
    for (const id of this.#passesCut.keys()) if (!open.has(id) && !cutting.has(id)) this.#passesCut.delete(id);
  }

  /** Ends the connections of one revocation, once per pass. @returns the ids of the forwards that ended */
  #cut(revocation: Revocation): Promise<string[]> {
    const key = cutKey(revocation);
    const cut = this.#cuts.get(key) ?? this.#cutNow(revocation);
    this.#cuts.set(key, cut);
    return cut;
  }

  async #cutNow(revocation: Revocation): Promise<string[]> {
    const [, forwards] = await Promise.all([this.#cutOwn(revocation, revocation.passes + 1), this.#endForwardsOfLost(revocation)]);
    return forwards;
  }

  /** Ends what this control plane holds for it. @param passes how many passes it has been cut for then */
  async #cutOwn(revocation: Revocation, passes: number): Promise<void> {
    const { id, teamId, kind, subjectId } = revocation;
    this.#passesCut.set(id, passes);
    this.revoked.publish(revocation);
    if (kind !== 'agent') return this.#deps.terminals.recheck(teamId);
    this.#deps.gateway.disconnect(subjectId, 'revoked');
    // Neither waits for the other: each writes how its connections ended.
    await Promise.all([this.#deps.terminals.dropAgent(teamId, subjectId), this.#deps.forwards.dropAgent(teamId, subjectId)]);
  }

  async #endForwardsOfLost(revocation: Revocation): Promise<string[]> {
    return revocation.kind === 'agent' || (await this.#keepsRights(revocation)) ? [] : this.#endForwards(revocation);
  }

  /** After a new password the person keeps their role, but everything opened with the old password ends. */
  async #keepsRights(revocation: Revocation): Promise<boolean> {
    return revocation.kind !== 'password' && OPERATING.has(await selectRole(this.#deps.storage.db, revocation));
  }

  /** Never rejects: a revocation that could not be completed stays due. */
  async #carryOutDue(teamId: string): Promise<void> {
    const { storage, clock, log } = this.#deps;
    try {
      const now = clock.now();
      for (const revocation of await selectDue(storage.db, teamId, now, latestOf(now), AT_ONCE)) {
        if (this.#poll.isStopped) return;
        await this.#carryOut(revocation).catch((error: unknown) => {
          log.warn({ err: error, team_id: revocation.teamId }, 'a revocation could not be completed; trying again');
        });
      }
    } catch (error) {
      log.warn({ err: error }, 'revocations could not be read; trying again');
    }
  }

  async #carryOut(revocation: Revocation): Promise<void> {
    const { storage, clock } = this.#deps;
    try {
      const report = await this.#end(revocation, await this.#cut(revocation));
      const pause = LATER_PASSES_MS[revocation.passes];
      const next = { ...revocation, report, passes: revocation.passes + 1, dueAt: pause === undefined ? null : clock.now() + pause };
      await storage.writes.write((tx) => storePass(tx, storage.engine, revocation.passes, next));
    } finally {
      this.#cuts.delete(cutKey(revocation));
    }
  }

  /** The slower part after the connections. @param forwards ids of the forwards that ended */
  async #end(revocation: Revocation, forwards: readonly string[]): Promise<Report> {
    const { kind, report } = revocation;
    // Who becomes an operator keeps the rest, but loses full terminals.
    const terminals = add(report.ended.terminals, await this.#deps.terminals.endedOf(revocation));
    const before = { ...report, ended: { ...report.ended, terminals } };
    if (kind === 'agent' || (await this.#keepsRights(revocation))) return before;
    const campaigns = await this.#endCampaigns(revocation);
    const jobs = await this.#endJobs(revocation);
    const keys = await this.#endKeys(revocation);
    const { ended } = before;
    return {
      ended: {
        forwards: add(ended.forwards, forwards),
        jobs: add(ended.jobs, jobs.ended),
        campaigns: add(ended.campaigns, campaigns),
        terminals,
        api_keys: add(ended.api_keys, keys.ended),
      },
      goes_on: { jobs: some(jobs.goesOn), api_keys: some(keys.goesOn) },
    };
  }

  async #endForwards(revocation: Revocation): Promise<string[]> {
    const { storage, forwards } = this.#deps;
    const open = await selectOpenForwards(storage.db, revocation);
    for (const { id, router_id: routerId } of open) await forwards.revoke(revocation.teamId, routerId, id);
    return open.map(({ id }) => id);
  }

  /** Before the jobs: a running campaign would create more of them. */
  async #endCampaigns(revocation: Revocation): Promise<string[]> {
    const { storage, campaigns } = this.#deps;
    const open = await selectOpenCampaigns(storage.db, revocation);
    for (const { id } of open) await campaigns.cancelCampaign(revocation.teamId, id).catch(unlessConflict);
    return open.map(({ id }) => id);
  }

  async #endJobs(revocation: Revocation): Promise<{ ended: string[]; goesOn: string[] }> {
    const ended: string[] = [];
    const goesOn: string[] = [];
    let after = '';
    for (;;) {
      const jobs = await selectOpenJobs(this.#deps.storage.db, revocation, after, JOBS_AT_ONCE);
      await Promise.all(
        jobs.map(async ({ id, router_id: routerId }) => {
          const result = await this.#deps.jobs.cancelIfOpen(revocation.teamId, routerId, id).catch(unlessConflict);
          (result?.state === 'deleted' ? ended : goesOn).push(id);
        }),
      );
      const last = jobs.at(-1);
      if (!last || jobs.length < JOBS_AT_ONCE) return { ended, goesOn };
      after = last.id;
    }
  }

  async #endKeys(revocation: Revocation): Promise<{ ended: string[]; goesOn: string[] }> {
    const { storage, credentials, clock } = this.#deps;
    const made = (await selectKeysMadeBy(storage.db, revocation, clock.now())).map(({ id }) => id);
    if (!revocation.revokeKeys) return { ended: [], goesOn: made };
    for (const id of made) await credentials.revokeApiKey(revocation.teamId, id, { revokeKeys: true });
    return { ended: made, goesOn: [] };
  }
}

/** When a pass can have been scheduled at the latest: a later one means that the clock was set back. */
function latestOf(now: number): number {
  return now + Math.max(...LATER_PASSES_MS);
}

function cutKey({ id, passes }: Revocation): string {
  return `${id} ${passes}`;
}

/** The job has begun, or has ended by itself. */
function unlessConflict(error: unknown): undefined {
  if (error instanceof AppError && (error.code === 'conflict' || error.code === 'not_found')) return undefined;
  throw error;
}

function some(ids: readonly string[]): Some {
  return { count: ids.length, ids: ids.slice(0, MOST_LISTED) };
}
