import type { SharedUse } from '../../../runtime/fair-shares.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Counters } from '../../platform/core/counters.ts';
import { AppError, invalidField, notFound } from '../../platform/core/errors.ts';
import { newId } from '../../platform/core/ids.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import { nextTurn } from '../../platform/core/loop-turns.ts';
import type { Log } from '../../platform/core/log.ts';
import type { Page } from '../../platform/core/page.ts';
import { checkQuota } from '../../platform/core/quotas.ts';
import type { JobsService } from '../jobs/service.ts';
import { insertNotices } from '../../platform/notices/store.ts';
import type { Members } from '../../platform/nodes/members.ts';
import type { Storage, Tx } from '../../platform/storage/db.ts';
import { fromStoredCounts, isOver, progressOf, statusCounts } from './counts.ts';
import { campaignNotice } from './notices.ts';
import { ProgressReports } from './progress/reports.ts';
import { CampaignRunner } from './run/runner.ts';
import { canaryState } from './steps.ts';
import {
  changeState,
  countGroups,
  countOpen,
  countTargetsSince,
  countRunning,
  insertCampaign,
  lockTeam,
  selectCampaign,
  selectCampaignByKey,
  selectCampaigns,
  selectCounts,
  selectGroups,
  selectTargets,
} from './store.ts';
import type { TargetRow } from './store.ts';
import { chooseTargets } from './targets.ts';
import type {
  CampaignChange,
  CampaignRecord,
  CampaignRequest,
  CampaignState,
  CampaignView,
  NewCampaign,
  OutputGroup,
  TargetStatus,
  TargetView,
} from './types.ts';

/** The campaign that a job belongs to. */
export { campaignOfKey } from './job-key.ts';

/** The same time as for other keys (server/platform/idempotency). */
const KEY_KEPT_MS = 24 * 3600_000;
const DAY_MS = 24 * 3600_000;
/** Ten campaigns over the largest fleet of a team: about 40 MB of records. */
export const MOST_TARGETS_A_DAY = 200_000;

export interface CampaignsDeps {
  storage: Storage;
  jobs: Pick<JobsService, 'createJob' | 'cancelIfOpen' | 'checkNotifyUrl' | 'changes'>;
  clock: Clock;
  log: Log;
  counters?: Counters | undefined;
  /** Set where several control planes serve the database. */
  members?: Pick<Members, 'isOwn'> | undefined;
}

/** Runs one script on many routers: a few first, the others at a rate, and stops when too many fail. */
export class CampaignsService {
  /** Changes that this process makes to campaigns. */
  readonly changes = new Listeners<CampaignChange>();
  /** Figures that have changed, at most once a second for each campaign. */
  readonly progress = new Listeners<CampaignView>();
  readonly #deps: CampaignsDeps;
  readonly #runner: CampaignRunner;
  readonly #reports: ProgressReports;

  constructor(deps: CampaignsDeps) {
    this.#deps = deps;
    this.#reports = new ProgressReports({
      clock: deps.clock,
      log: deps.log,
      read: (teamId, id) => this.getCampaign(teamId, id),
      publish: (view) => this.progress.publish(view),
    });
    this.#runner = new CampaignRunner({
      ...deps,
      onChange: (change) => this.changes.publish(change),
      onProgress: (campaign) => this.#reports.note(campaign),
    });
  }

  /** Another control plane has changed a campaign, or one of its jobs. */
  changedElsewhere(teamId: string, id: string): void {
    this.#runner.changedElsewhere({ id, teamId });
  }

  /** Rounds in progress. */
  get rounds(): SharedUse {
    return this.#runner.turns.shares;
  }

  start(): void {
    this.#runner.start();
  }

  async stop(): Promise<void> {
    await this.#runner.stop();
    await this.#reports.stop();
  }

  /**
   * Stores a campaign with its present targets; routers added later are not in it. A key chosen by the caller finds the earlier campaign.
   * @throws AppError `invalid` naming the field, `quota_exceeded` when the team has too many open campaigns
   */
  async createCampaign(teamId: string, wanted: NewCampaign, request: CampaignRequest): Promise<CampaignView> {
    this.#deps.jobs.checkNotifyUrl(wanted.notifyUrl);
    const now = this.#deps.clock.now();
    const { campaign, isNew } = await this.#deps.storage.writes.write(async (tx) => {
      const key = { teamId, idempotencyKey: request.idempotencyKey, since: now - KEY_KEPT_MS };
      const earlier = request.keyGiven ? await selectCampaignByKey(tx, key) : undefined;
      if (earlier) return { campaign: earlier, isNew: false };
      await lockTeam(tx, teamId);
      checkQuota(this.#deps.counters, 'campaigns_per_team', await countOpen(tx, teamId));
      const routerIds = await chooseTargets(tx, teamId, wanted);
      if (wanted.canaryCount > routerIds.length) {
        throw invalidField('canary_count', `is more than the number of routers (${routerIds.length})`);
      }
      await this.#checkTargetsOfDay(tx, teamId, routerIds.length, now);
      const row = rowOf(teamId, wanted, request, { now, targets: routerIds.length });
      const inserted = await insertCampaign(tx, row, routerIds);
      await insertNotices(tx, [campaignNotice({ kind: 'started', campaign: inserted }, now)], now);
      return { campaign: inserted, isNew: true };
    });
    if (isNew) this.changes.publish({ kind: 'started', campaign });
    void this.#runner.run({ id: campaign.id, teamId });
    return this.#view(campaign);
  }

  /** Limits campaigns that are created and canceled again and again: they are never open, and each stores a record per router. */
  async #checkTargetsOfDay(tx: Tx, teamId: string, added: number, now: number): Promise<void> {
    if ((await countTargetsSince(tx, teamId, now - DAY_MS)) + added <= MOST_TARGETS_A_DAY) return;
    this.#deps.counters?.add('campaign_routers_a_day');
    throw new AppError(
      'quota_exceeded',
      `the campaigns of one day may have ${MOST_TARGETS_A_DAY} routers in total, a router in two campaigns counted twice`,
    );
  }

  /** Newest first. */
  async listCampaigns(teamId: string, page: Page): Promise<CampaignView[]> {
    return this.#views(teamId, await selectCampaigns(this.#deps.storage.db, teamId, page));
  }

  /** @throws AppError `not_found` */
  async getCampaign(teamId: string, id: string): Promise<CampaignView> {
    return this.#view(await this.#find(teamId, id));
  }

  /** In the requested order, after a position. @throws AppError `not_found` */
  async listTargets(
    teamId: string,
    id: string,
    query: { statuses: readonly TargetStatus[]; after: number; limit: number },
  ): Promise<TargetView[]> {
    const campaign = await this.#find(teamId, id);
    const wanted = isOver(campaign) ? query.statuses.map(asWaiting) : query.statuses;
    const rows = await selectTargets(this.#deps.storage.db, { teamId, id, ...query, statuses: wanted });
    return rows.map((row) => viewOf(row, campaign));
  }

  /** The largest first. @throws AppError `not_found` */
  async listGroups(teamId: string, id: string, limit: number): Promise<{ groups: OutputGroup[]; total: number }> {
    await this.#find(teamId, id);
    const { db } = this.#deps.storage;
    const groups = await selectGroups(db, { teamId, id, limit });
    await nextTurn();
    const total = await countGroups(db, teamId, id);
    await nextTurn();
    return { groups, total };
  }

  /** Creates no further jobs; existing jobs continue. @throws AppError `not_found`, `conflict` when it has ended */
  async pauseCampaign(teamId: string, id: string): Promise<CampaignView> {
    return this.#view(await this.#change(teamId, id, { from: ['running'], to: 'paused', kind: 'paused' }));
  }

  /** @throws AppError `not_found`, `conflict` when it has ended */
  async resumeCampaign(teamId: string, id: string): Promise<CampaignView> {
    const campaign = await this.#change(teamId, id, { from: ['paused'], to: 'running', kind: 'resumed' });
    void this.#runner.run({ id, teamId });
    return this.#view(campaign);
  }

  /**
   * Creates no further jobs and cancels those that have not begun; running scripts continue. Canceling a job that an agent holds takes up
   * to a few seconds.
   * @throws AppError `not_found`, `conflict` when it has ended otherwise
   */
  async cancelCampaign(teamId: string, id: string): Promise<CampaignView> {
    await this.#change(teamId, id, { from: ['running', 'paused'], to: 'canceled', kind: 'canceled' });
    await this.#runner.run({ id, teamId });
    return this.getCampaign(teamId, id);
  }

  /** Repeating it changes nothing. */
  async #change(teamId: string, id: string, { from, to, kind }: StateChange): Promise<CampaignRecord> {
    const { storage, clock } = this.#deps;
    const changed = await storage.writes.write(async (tx) => {
      const campaign = await changeState(tx, { teamId, id, from, to });
      const now = clock.now();
      if (campaign) await insertNotices(tx, [campaignNotice({ kind, campaign }, now)], now);
      return campaign;
    });
    if (changed) {
      this.changes.publish({ kind, campaign: changed });
      return changed;
    }
    const campaign = await this.#find(teamId, id);
    if (campaign.state !== to) throw new AppError('conflict', `the campaign is ${campaign.state}`);
    return campaign;
  }

  async #find(teamId: string, id: string): Promise<CampaignRecord> {
    const campaign = await selectCampaign(this.#deps.storage.db, teamId, id);
    if (!campaign) throw notFound('campaign');
    return campaign;
  }

  async #view(campaign: CampaignRecord): Promise<CampaignView> {
    const [view] = await this.#views(campaign.team_id, [campaign]);
    return view!;
  }

  async #views(teamId: string, campaigns: readonly CampaignRecord[]): Promise<CampaignView[]> {
    const { db } = this.#deps.storage;
    const live = campaigns.filter(({ final_counts: stored }) => stored === null).map(({ id }) => id);
    const counted = await selectCounts(db, teamId, live);
    const running = await countRunning(db, teamId, live);
    return campaigns.map((campaign) => {
      const { id, final_counts: stored } = campaign;
      const counts = stored === null ? (counted.get(id) ?? []) : fromStoredCounts(stored);
      return { campaign, counts: statusCounts(campaign, counts, running.get(id) ?? 0), canaries: canaryState(progressOf(counts).canaries) };
    });
  }
}

interface StateChange {
  from: readonly CampaignState[];
  to: CampaignState;
  kind: CampaignChange['kind'];
}

function rowOf(teamId: string, wanted: NewCampaign, request: CampaignRequest, at: { now: number; targets: number }) {
  const flag = (value: boolean): 0 | 1 => (value ? 1 : 0);
  return {
    id: newId(at.now),
    team_id: teamId,
    request_id: request.requestId,
    idempotency_key: request.idempotencyKey,
    created_by: request.createdBy,
    created_via: request.createdVia ?? null,
    description: wanted.description,
    script: wanted.script,
    express_execute: flag(wanted.expressExecute),
    needs_acknowledgement: flag(wanted.needsAcknowledgement),
    make_backup: flag(wanted.makeBackup),
    notify_url: wanted.notifyUrl ?? null,
    timeout_seconds: wanted.timeoutSeconds ?? null,
    undo_seconds: wanted.undoSeconds ?? null,
    deliver_within_minutes: wanted.deliverWithinMinutes,
    canary_count: wanted.canaryCount,
    rate_per_minute: wanted.ratePerMinute ?? null,
    most_at_once: wanted.mostAtOnce,
    abort_after_failures: wanted.abortAfterFailures ?? null,
    abort_at_percent: wanted.abortAtPercent ?? null,
    target_count: at.targets,
    state: 'running',
    next_start_at: 0,
    created_at: at.now,
  };
}

/** In the database, skipped routers still have the status `waiting`. */
function asWaiting(status: TargetStatus): TargetStatus {
  // `waiting` then matches nothing, because no row has the status `skipped`.
  if (status === 'waiting') return 'skipped';
  return status === 'skipped' ? 'waiting' : status;
}

function viewOf(row: TargetRow, campaign: CampaignRecord): TargetView {
  return {
    routerId: row.router_id,
    position: row.position,
    canary: row.canary === 1,
    status: row.status === 'waiting' && isOver(campaign) ? 'skipped' : row.status,
    jobId: row.job_id,
    reason: row.reason,
    startedAt: row.claimed_at,
    settledAt: row.settled_at,
  };
}
