import type { CredentialsService } from '../credentials/service.ts';
import type { CampaignsService } from '../../work/campaigns/service.ts';
import type { AgentGateway } from '../../platform/core/agent-gateway.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { AppError } from '../../platform/core/errors.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Page } from '../../platform/core/page.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import { within } from '../../platform/core/within.ts';
import type { ForwardsService } from '../../work/forwards/service.ts';
import type { JobsService } from '../../work/jobs/service.ts';
import type { Storage } from '../../platform/storage/db.ts';
import {
  deleteRevocations,
  selectDue,
  selectDueTeams,
  selectKeysMadeBy,
  selectOpenCampaigns,
  selectOpenForwards,
  selectOpenJobs,
  selectRevocations,
  selectRole,
  updateRevocation,
} from './store.ts';
import { MOST_LISTED } from './types.ts';
import type { Report, Revocation, Some } from './types.ts';

export interface RevocationsDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  credentials: Pick<CredentialsService, 'revokeApiKey'>;
  forwards: Pick<ForwardsService, 'revoke' | 'dropAgent'>;
  jobs: Pick<JobsService, 'takeBackJob'>;
  campaigns: Pick<CampaignsService, 'cancelCampaign'>;
  gateway: Pick<AgentGateway, 'disconnect'>;
}

/** How soon is noticed what another program wrote: `signalbox key revoke`. One read of an index that is nearly always empty. */
const LOOK_EVERY_MS = 1000;
/**
 * After the first look, these much later it is looked again: a request that was let in just before the revocation may
 * open something just after it. No request that opens something takes a minute.
 */
const LOOK_AGAIN_MS = [2000, 10_000, 60_000];
/** How long a request that revokes waits until what was opened has ended; it goes on ending afterwards. */
const LONGEST_WAIT_MS = 5000;
/** Revocations of one look at a team that are carried out to the end, one after the other. */
const AT_ONCE = 100;
/** Revocations whose connections are cut at the same time, of one team: as many as it may have API keys. */
const CUT_AT_ONCE = 1000;
/** Jobs of one read; those that agents hold are asked back side by side, because each may take seconds. */
const JOBS_AT_ONCE = 50;
/** As the audit log. */
const KEPT_MS = 400 * 24 * 3_600_000;
/** Rows of one statement. */
const CHUNK = 500;

/** Who may open forwards, jobs and campaigns. */
const OPERATING: ReadonlySet<string | undefined> = new Set(['operator', 'admin']);

/**
 * Ends what somebody opened who may not operate routers any more: their forwards with all connections, their jobs that
 * have not begun, their campaigns. What is to be done is in the database, written with the revocation itself, so that a
 * crash or another process changes nothing of it.
 */
export class RevocationsService {
  /** Somebody in this team has lost a right: connections that outlive their request must be checked again. */
  readonly noticed = new Listeners<{ teamId: string }>();
  readonly #deps: RevocationsDeps;
  readonly #finding: Periodic;
  /**
   * The looks at each team, one after the other: two that end the same things would wait for each other's answers. Teams do not wait
   * for each other: an agent that never answers makes a look at its team last for minutes.
   */
  readonly #looking = new Map<string, Promise<void>>();
  /**
   * Connections that are being cut or have been, by revocation and pass, with the ids of the forwards that ended. They do not wait for
   * the looks: an agent that does not give back the jobs of one key must not keep the forwards of another key open.
   */
  readonly #cuts = new Map<string, Promise<string[]>>();
  /** The look at each team that waits for the one under way. */
  readonly #waiting = new Map<string, Promise<void>>();

  constructor(deps: RevocationsDeps) {
    this.#deps = deps;
    this.#finding = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: LOOK_EVERY_MS,
      failure: 'revocations could not be read; they are looked for again',
      run: () => this.#findDue(),
    });
  }

  start(): void {
    this.#finding.start();
  }

  async stop(): Promise<void> {
    await this.#finding.stop();
    await Promise.all(this.#looking.values());
  }

  /** Carries out what has just been revoked in this team. Waits for it, but not for ever; never rejects. */
  async settle(teamId: string): Promise<void> {
    await within(
      Promise.all([this.#cutDue(teamId), this.#look(teamId)]).then(() => undefined),
      LONGEST_WAIT_MS,
    );
  }

  /** Newest first. */
  async list(teamId: string, page: Page): Promise<Revocation[]> {
    return selectRevocations(this.#deps.storage.db, teamId, page);
  }

  /** Forgets what was revoked long ago. */
  async sweep(): Promise<void> {
    const { storage, clock } = this.#deps;
    const before = clock.now() - KEPT_MS;
    while ((await storage.writes.write((tx) => deleteRevocations(tx, before, CHUNK))) === CHUNK);
  }

  /** Begins a look at every team with something due at which none is under way. @throws a storage error */
  async #findDue(): Promise<void> {
    const { storage, clock } = this.#deps;
    const now = clock.now();
    const teams = await selectDueTeams(storage.db, now, now + Math.max(...LOOK_AGAIN_MS));
    for (const teamId of teams) {
      void this.#cutDue(teamId);
      if (!this.#looking.has(teamId)) void this.#look(teamId);
    }
  }

  #look(teamId: string): Promise<void> {
    // One that has not begun will see what was written just now.
    const waiting = this.#waiting.get(teamId);
    if (waiting) return waiting;
    const before = this.#looking.get(teamId) ?? Promise.resolve();
    const look = before
      .then(() => {
        this.#waiting.delete(teamId);
        return this.#carryOutDue(teamId);
      })
      .then(() => {
        if (this.#looking.get(teamId) === look) this.#looking.delete(teamId);
      });
    this.#waiting.set(teamId, look);
    this.#looking.set(teamId, look);
    return look;
  }

  /** Cuts the connections of everything that is due, at once and side by side. Never rejects: what could not be cut stays due. */
  async #cutDue(teamId: string): Promise<void> {
    const { storage, clock, log } = this.#deps;
    try {
      const now = clock.now();
      const due = await selectDue(storage.db, teamId, now, now + Math.max(...LOOK_AGAIN_MS), CUT_AT_ONCE);
      await Promise.allSettled(due.map((revocation) => this.#cut(revocation)));
    } catch (error) {
      log.warn({ err: error, team_id: teamId }, 'revocations could not be read; they are looked for again');
    }
  }

  /** Ends the connections of one revocation, once in each pass. @returns the ids of the forwards that ended */
  #cut(revocation: Revocation): Promise<string[]> {
    const key = cutKey(revocation);
    const cut = this.#cuts.get(key) ?? this.#cutNow(revocation);
    this.#cuts.set(key, cut);
    return cut;
  }

  async #cutNow(revocation: Revocation): Promise<string[]> {
    this.noticed.publish(revocation);
    const { teamId, kind, subjectId } = revocation;
    if (kind === 'agent') {
      this.#deps.gateway.disconnect(subjectId, 'revoked');
      await this.#deps.forwards.dropAgent(teamId, subjectId);
      return [];
    }
    return (await this.#mayGoOn(revocation)) ? [] : this.#endForwards(revocation);
  }

  /** After a new password the person may go on, but not what somebody opened who knew the old one. */
  async #mayGoOn(revocation: Revocation): Promise<boolean> {
    return revocation.kind !== 'password' && OPERATING.has(await selectRole(this.#deps.storage.db, revocation));
  }

  /** Never rejects: what could not be ended stays due. */
  async #carryOutDue(teamId: string): Promise<void> {
    const { storage, clock, log } = this.#deps;
    try {
      const now = clock.now();
      for (const revocation of await selectDue(storage.db, teamId, now, now + Math.max(...LOOK_AGAIN_MS), AT_ONCE)) {
        if (this.#finding.isStopped) return;
        await this.#carryOut(revocation).catch((error: unknown) => {
          log.warn({ err: error, team_id: revocation.teamId }, 'not everything that a revocation ends has ended; it is tried again');
        });
      }
    } catch (error) {
      log.warn({ err: error }, 'revocations could not be read; they are looked for again');
    }
  }

  async #carryOut(revocation: Revocation): Promise<void> {
    const { storage, clock } = this.#deps;
    try {
      const report = await this.#end(revocation, await this.#cut(revocation));
      const pause = LOOK_AGAIN_MS[revocation.passes];
      const next = { ...revocation, report, passes: revocation.passes + 1, dueAt: pause === undefined ? null : clock.now() + pause };
      await storage.writes.write((tx) => updateRevocation(tx, next));
    } finally {
      this.#cuts.delete(cutKey(revocation));
    }
  }

  /** What takes longer than cutting connections. @param forwards that were cut */
  async #end(revocation: Revocation, forwards: readonly string[]): Promise<Report> {
    const { kind, report: before } = revocation;
    if (kind === 'agent' || (await this.#mayGoOn(revocation))) return before;
    const campaigns = await this.#endCampaigns(revocation);
    const jobs = await this.#endJobs(revocation);
    const keys = await this.#endKeys(revocation);
    const { ended } = before;
    return {
      ended: {
        forwards: add(ended.forwards, forwards),
        jobs: add(ended.jobs, jobs.ended),
        campaigns: add(ended.campaigns, campaigns),
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

  /** Before the jobs: a campaign that goes on would make more of them. */
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
          const result = await this.#deps.jobs.takeBackJob(revocation.teamId, routerId, id).catch(unlessConflict);
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

function cutKey({ id, passes }: Revocation): string {
  return `${id} ${passes}`;
}

/** It has begun, or ended by itself meanwhile. */
function unlessConflict(error: unknown): undefined {
  if (error instanceof AppError && (error.code === 'conflict' || error.code === 'not_found')) return undefined;
  throw error;
}

function some(ids: readonly string[]): Some {
  return { count: ids.length, ids: ids.slice(0, MOST_LISTED) };
}

function add(before: Some, ids: readonly string[]): Some {
  const isNew = ids.filter((id) => !before.ids.includes(id));
  return { count: before.count + isNew.length, ids: [...before.ids, ...isNew].slice(0, MOST_LISTED) };
}
