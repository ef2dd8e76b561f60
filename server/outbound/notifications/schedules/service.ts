import type { Clock } from '../../../platform/core/clock.ts';
import { AppError, invalidField, notFound } from '../../../platform/core/errors.ts';
import { newId } from '../../../platform/core/ids.ts';
import { Listeners } from '../../../platform/core/listeners.ts';
import type { Page } from '../../../platform/core/page.ts';
import { ianaTimeZone } from '../../../platform/core/time-zone.ts';
import type { Storage, Tx } from '../../../platform/storage/db.ts';
import { hastenMuted, selectGroupsBySchedule } from '../groups/store.ts';
import {
  countSchedules,
  deleteSchedule,
  insertSchedule,
  isUnique,
  lockTeam,
  selectSchedule,
  selectSchedules,
  updateSchedule,
} from './store.ts';
import type { SettingChange } from '../types.ts';
import type { NewSchedule, Schedule, ScheduleChange } from './types.ts';

/** Far more than a team has shifts. */
const MAX_SCHEDULES = 200;

/** Weekly schedules: when people are on duty. */
export class SchedulesService {
  readonly changes = new Listeners<SettingChange>();
  readonly #storage: Storage;
  readonly #clock: Clock;

  constructor({ storage, clock }: { storage: Storage; clock: Clock }) {
    this.#storage = storage;
    this.#clock = clock;
  }

  async list(teamId: string, page: Page): Promise<Schedule[]> {
    return selectSchedules(this.#storage.db, teamId, page);
  }

  /** @throws AppError `not_found` */
  async get(teamId: string, scheduleId: string): Promise<Schedule> {
    const schedule = await selectSchedule(this.#storage.db, teamId, scheduleId);
    if (!schedule) throw notFound('schedule');
    return schedule;
  }

  /** @throws AppError `invalid` for an unknown time zone; `conflict` for a name in use, or too many schedules */
  async create(teamId: string, { name, timeZone, windows }: NewSchedule): Promise<Schedule> {
    const now = this.#clock.now();
    const schedule = { id: newId(now), teamId, name, timeZone: checkTimeZone(timeZone), windows, createdAt: now, updatedAt: now };
    await this.#storage.writes.write(async (tx) => {
      await lockTeam(tx, teamId);
      if ((await countSchedules(tx, teamId)) >= MAX_SCHEDULES) {
        throw new AppError('conflict', `a team has at most ${MAX_SCHEDULES} schedules`);
      }
      await insertSchedule(tx, schedule).catch(nameInUse);
    });
    this.#tell('created', schedule);
    return schedule;
  }

  /** @throws AppError `not_found`, `invalid` for an unknown time zone, `conflict` for a name in use */
  async change(teamId: string, scheduleId: string, change: ScheduleChange): Promise<Schedule> {
    const timeZone = change.timeZone === undefined ? undefined : checkTimeZone(change.timeZone);
    const updatedAt = this.#clock.now();
    const key = { teamId, id: scheduleId };
    const schedule = await this.#storage.writes.write(async (tx) => {
      const changed = await updateSchedule(tx, key, { ...change, timeZone, updatedAt }).catch(nameInUse);
      if (!changed) throw notFound('schedule');
      await this.#hastenMuted(tx, teamId, await selectGroupsBySchedule(tx, teamId, scheduleId));
      return changed;
    });
    this.#tell('updated', schedule);
    return schedule;
  }

  /** Its groups then have no schedule. @throws AppError `not_found` */
  async delete(teamId: string, scheduleId: string): Promise<void> {
    await this.#storage.writes.write(async (tx) => {
      const groups = await selectGroupsBySchedule(tx, teamId, scheduleId);
      if (!(await deleteSchedule(tx, teamId, scheduleId))) throw notFound('schedule');
      await this.#hastenMuted(tx, teamId, groups);
    });
    this.changes.publish({ kind: 'removed', teamId, id: scheduleId });
  }

  /** Their messages that wait for the end of a mute: it may be over. */
  async #hastenMuted(tx: Tx, teamId: string, groupIds: readonly string[]): Promise<void> {
    for (const groupId of groupIds) await hastenMuted(tx, teamId, groupId, this.#clock.now());
  }

  #tell(kind: SettingChange['kind'], { teamId, id, name }: Schedule): void {
    this.changes.publish({ kind, teamId, id, name });
  }
}

function checkTimeZone(name: string): string {
  const zone = ianaTimeZone(name);
  if (zone === undefined) throw invalidField('time_zone', 'is not an IANA time zone');
  return zone;
}

function nameInUse(error: unknown): never {
  throw isUnique(error) ? new AppError('conflict', 'the team already has a schedule with this name', { cause: error }) : error;
}
