import type { SitesService } from '../../../fleet/sites/service.ts';
import type { Clock } from '../../../platform/core/clock.ts';
import { AppError, notFound } from '../../../platform/core/errors.ts';
import { derivedId, newId } from '../../../platform/core/ids.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { Members } from '../../../platform/nodes/members.ts';
import type { Page } from '../../../platform/core/page.ts';
import { Periodic } from '../../../platform/core/periodic.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import { lastMoment, nextMoment } from './moments.ts';
import {
  deleteSchedule,
  insertSchedule,
  insertScheduled,
  isForeignKey,
  isUnique,
  lockTeam,
  runsOf,
  selectEnabled,
  selectRoutersOf,
  selectSchedule,
  selectSchedules,
  selectZones,
  updateSchedule,
  withRun,
} from './store.ts';
import type { NewSchedule, Schedule, ScheduleChange, ScheduleRecord } from './types.ts';

export interface SchedulesDeps {
  storage: Storage;
  clock: Clock;
  log: Log;
  sites: Pick<SitesService, 'get'>;
  /** Of several control planes, one plans the runs of each schedule. */
  members?: Pick<Members, 'isOwn'> | undefined;
}

/** A run begins at most so late. */
const LOOK_EVERY_MS = 20_000;
/** Rows of one write: it holds the database for some milliseconds. */
const PLAN_AT_ONCE = 500;

/** Plans the backups of schedules: for each time zone of a schedule's routers once a day. Missed runs are made up for by one. */
export class BackupSchedules {
  readonly #deps: SchedulesDeps;
  readonly #looks: Periodic;

  constructor(deps: SchedulesDeps) {
    this.#deps = deps;
    this.#looks = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: LOOK_EVERY_MS,
      failure: 'backup schedules could not be run',
      run: () => this.runDue(),
    });
  }

  start(): void {
    this.#looks.start();
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
  }

  /** @throws AppError `conflict` when the team or the site has a schedule; `invalid` for a site that is not the team's */
  async create({ teamId, siteId, ...fields }: NewSchedule): Promise<Schedule> {
    const { storage, clock } = this.#deps;
    const now = clock.now();
    const record: ScheduleRecord = {
      id: newId(now),
      team_id: teamId,
      site_id: siteId,
      ...columnsOf(fields),
      counts_from: now,
      runs: '{}',
      created_at: now,
      updated_at: now,
    };
    const noSite = (cause: unknown): AppError =>
      new AppError('invalid', 'site_id: no such site in this team', { cause, errors: { site_id: ['no such site in this team'] } });
    if (siteId !== null) {
      await this.#deps.sites.get(teamId, siteId).catch((error: unknown) => {
        throw error instanceof AppError && error.code === 'not_found' ? noSite(error) : error;
      });
    }
    await storage.writes
      .write((tx) => insertSchedule(tx, record))
      .catch((error: unknown) => {
        if (isForeignKey(error)) throw noSite(error);
        throw isUnique(error) ? new AppError('conflict', `the ${siteId === null ? 'team' : 'site'} has a schedule already`) : error;
      });
    return this.#show(record);
  }

  /** @throws AppError `not_found` */
  async get(teamId: string, id: string): Promise<Schedule> {
    return this.#show(await this.#find(teamId, id));
  }

  /** Newest first. */
  async list(teamId: string, page: Page): Promise<Schedule[]> {
    const records = await selectSchedules(this.#deps.storage.db, teamId, page);
    return Promise.all(records.map((record) => this.#show(record)));
  }

  /** A time that has passed today counts from tomorrow. @throws AppError `not_found` */
  async change(teamId: string, id: string, change: ScheduleChange): Promise<Schedule> {
    const { storage, clock } = this.#deps;
    return storage.writes
      .write(async (tx) => {
        await lockTeam(tx, teamId);
        const before = await selectSchedule(tx, { teamId, id });
        if (!before) throw notFound('backup schedule');
        const now = clock.now();
        const isMoved = change.minutes !== undefined || change.timeZone !== undefined || change.enabled === true;
        const moved = isMoved ? { counts_from: now, runs: '{}' } : {};
        const after = { ...before, ...changedColumns(change), ...moved, updated_at: now };
        await updateSchedule(tx, after);
        return after;
      })
      .then((record) => this.#show(record));
  }

  /** Its backups stay. @throws AppError `not_found` */
  async delete(teamId: string, id: string): Promise<void> {
    if (!(await deleteSchedule(this.#deps.storage.db, { teamId, id }))) throw notFound('backup schedule');
  }

  /** Plans what is due. @throws a storage error */
  async runDue(): Promise<void> {
    const { storage, clock, members } = this.#deps;
    for (const schedule of await selectEnabled(storage.db)) {
      if (members?.isOwn(schedule.id) === false) continue;
      for (const timeZone of await selectZones(storage.db, schedule)) {
        if (this.#looks.isStopped) return;
        const now = clock.now();
        const moment = dueMoment(schedule, timeZone, now);
        if (moment !== undefined) await this.#plan(schedule, { timeZone, moment }, now);
      }
    }
  }

  /**
   * The run is recorded last: a control plane that is killed before plans again, without effect for routers that have their backup of
   * this run, or one that waits. So two control planes may plan it, too. Evenly spread, so that many routers do not begin in the same second.
   */
  async #plan(schedule: ScheduleRecord, { timeZone, moment }: { timeZone: string; moment: number }, now: number): Promise<void> {
    const { storage, log } = this.#deps;
    const routers = await selectRoutersOf(storage.db, schedule, timeZone);
    const spreadMs = schedule.spread_minutes * 60_000;
    const planned = routers.map((routerId, place) => ({
      id: derivedId(moment, `${schedule.id} ${routerId}`),
      routerId,
      dueAt: now + Math.floor((place * spreadMs) / routers.length),
    }));
    for (let start = 0; start < planned.length; start += PLAN_AT_ONCE) {
      await storage.writes.write((tx) => insertScheduled(tx, schedule, planned.slice(start, start + PLAN_AT_ONCE), now));
    }
    await storage.writes.write(async (tx) => {
      await lockTeam(tx, schedule.team_id);
      const present = await selectSchedule(tx, { teamId: schedule.team_id, id: schedule.id });
      if (present) await updateSchedule(tx, { ...present, runs: withRun(present, timeZone, now) });
    });
    if (routers.length > 0) log.info({ team_id: schedule.team_id, count: routers.length }, 'backups were planned');
  }

  async #show(record: ScheduleRecord): Promise<Schedule> {
    if (record.enabled === 0) return { record, nextAt: null };
    const { storage, clock } = this.#deps;
    const zones = await selectZones(storage.db, record);
    const now = clock.now();
    return { record, nextAt: Math.min(...zones.map((zone) => nextMoment(record.minutes, zone, now))) };
  }

  async #find(teamId: string, id: string): Promise<ScheduleRecord> {
    const record = await selectSchedule(this.#deps.storage.db, { teamId, id });
    if (!record) throw notFound('backup schedule');
    return record;
  }
}

/** Its time, if that has come since it last ran, or since it counts. A clock that was set back does not stop it for long. */
function dueMoment(schedule: ScheduleRecord, timeZone: string, now: number): number | undefined {
  const last = Math.min(now, runsOf(schedule)[timeZone] ?? schedule.counts_from);
  const moment = lastMoment(schedule.minutes, timeZone, now);
  return moment > last ? moment : undefined;
}

type Columns = Pick<ScheduleRecord, 'minutes' | 'time_zone' | 'spread_minutes' | 'keep' | 'enabled'>;

function columnsOf({ minutes, timeZone, spreadMinutes, keep, enabled }: Omit<NewSchedule, 'teamId' | 'siteId'>): Columns {
  return { minutes, time_zone: timeZone, spread_minutes: spreadMinutes, keep, enabled: enabled ? 1 : 0 };
}

function changedColumns({ minutes, timeZone, spreadMinutes, keep, enabled }: ScheduleChange): Partial<Columns> {
  return {
    ...(minutes === undefined ? {} : { minutes }),
    ...(timeZone === undefined ? {} : { time_zone: timeZone }),
    ...(spreadMinutes === undefined ? {} : { spread_minutes: spreadMinutes }),
    ...(keep === undefined ? {} : { keep }),
    ...(enabled === undefined ? {} : { enabled: enabled ? 1 : 0 }),
  };
}
