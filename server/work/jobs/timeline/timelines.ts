import type { Clock } from '../../../platform/core/clock.ts';
import type { Storage } from '../../../platform/storage/db.ts';
import type { JobRecord } from '../types.ts';
import { buildTimeline, idsOf, notesOf, waitedUntil } from './build.ts';
import { selectCampaignOf, selectNames, selectSituations } from './store.ts';
import type { TimelineItem } from './types.ts';

interface Deps {
  storage: Storage;
  clock: Clock;
  states: { history: { stored(): Promise<void> } };
}

/** What happened to single jobs. */
export class JobTimelines {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Everything that happened to a job, in its order, with what it waited for.
   * @param named whether keys, people and agents are called by their names
   */
  async of(job: JobRecord, named: boolean): Promise<TimelineItem[]> {
    const { storage, clock, states } = this.#deps;
    const { team_id: teamId, router_id: routerId, created_at: from } = job;
    await states.history.stored();
    const notes = notesOf(job);
    const situations = await selectSituations(storage.db, { teamId, routerId, from, to: waitedUntil(notes) ?? clock.now() });
    const names = await selectNames(storage.db, teamId, named ? idsOf(job, notes) : []);
    return buildTimeline(job, notes, { situations, names });
  }

  /** The campaign that made a job, as long as it is kept. */
  campaignOf({ team_id: teamId, id }: JobRecord): Promise<string | null> {
    return selectCampaignOf(this.#deps.storage.db, teamId, id);
  }
}
