import type { Clock } from '../../../platform/core/clock.ts';
import { AppError, invalidField, notFound } from '../../../platform/core/errors.ts';
import { newId } from '../../../platform/core/ids.ts';
import { Listeners } from '../../../platform/core/listeners.ts';
import type { Page } from '../../../platform/core/page.ts';
import type { Storage, Tx } from '../../../platform/storage/db.ts';
import { removeInBatches } from '../../../platform/core/removal-batches.ts';
import { deleteSilence, deleteSilencesBefore, hasRecord, insertSilence, lockTeam, selectLastingSilences, selectSilences } from './store.ts';
import { makeSilencedDue } from '../threads/telling/store.ts';
import type { SilenceChange } from '../types.ts';
import type { NewSilence, Silence } from './types.ts';

/** Silences that have not ended: a roll-out silences some sites a night. */
const MAX_LASTING = 500;
/** Longer than any maintenance; what is silent for ever belongs out of the topics. */
const LONGEST_MS = 90 * 24 * 3_600_000;

/** Maintenance: facts about a router, a site or the whole team that nobody is to hear of for a time. */
export class SilencesService {
  readonly changes = new Listeners<SilenceChange>();
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #keepMs: number;
  readonly #onEnd: () => void;

  /** @param deps `keepMs`: how long a silence is kept after its end; `onEnd`: called when somebody has ended one */
  constructor({ storage, clock, keepMs, onEnd }: { storage: Storage; clock: Clock; keepMs: number; onEnd: () => void }) {
    this.#storage = storage;
    this.#clock = clock;
    this.#keepMs = keepMs;
    this.#onEnd = onEnd;
  }

  async list(teamId: string, page: Page): Promise<Silence[]> {
    return selectSilences(this.#storage.db, teamId, page);
  }

  /** @throws AppError `invalid` for unfit times, or a router or site that is not the team's; `conflict` for too many */
  async create(teamId: string, createdBy: Silence['createdBy'], { from, ...wanted }: NewSilence): Promise<Silence> {
    const now = this.#clock.now();
    const silence = { ...wanted, id: newId(now), teamId, from: from ?? now, createdBy, createdAt: now };
    refuseUnfit(silence, now);
    await this.#storage.writes.write(async (tx) => {
      await lockTeam(tx, teamId);
      if ((await selectLastingSilences(tx, teamId, now)).length >= MAX_LASTING)
        throw new AppError('conflict', `a team has at most ${MAX_LASTING} silences that have not ended`);
      await refuseStrangers(tx, silence);
      await insertSilence(tx, silence);
    });
    this.changes.publish({ kind: 'created', teamId, id: silence.id });
    return silence;
  }

  /** Ends it at once: what still burns is told. @throws AppError `not_found` */
  async delete(teamId: string, id: string): Promise<void> {
    await this.#storage.writes.write(async (tx) => {
      await lockTeam(tx, teamId);
      if (!(await deleteSilence(tx, teamId, id))) throw notFound('silence');
      await makeSilencedDue(tx, teamId, this.#clock.now());
    });
    this.changes.publish({ kind: 'removed', teamId, id });
    this.#onEnd();
  }

  /** Deletes those that have ended long ago. */
  async sweep(signal?: AbortSignal): Promise<void> {
    const before = this.#clock.now() - this.#keepMs;
    await removeInBatches(this.#storage, (tx, limit) => deleteSilencesBefore(tx, before, limit), { signal });
  }
}

function refuseUnfit({ routerId, siteId, from, until }: Silence, now: number): void {
  if (routerId !== null && siteId !== null) throw invalidField('site_id', 'cannot be given together with router_id');
  if (until <= from) throw invalidField('until', 'is not after from');
  if (until <= now) throw invalidField('until', 'is in the past');
  if (until - from > LONGEST_MS) throw invalidField('until', 'is more than 90 days after from');
}

async function refuseStrangers(tx: Tx, { teamId, routerId, siteId }: Silence): Promise<void> {
  if (routerId !== null && !(await hasRecord(tx, 'routers', teamId, routerId)))
    throw invalidField('router_id', `${routerId} is not a router of this team`);
  if (siteId !== null && !(await hasRecord(tx, 'sites', teamId, siteId)))
    throw invalidField('site_id', `${siteId} is not a site of this team`);
}
