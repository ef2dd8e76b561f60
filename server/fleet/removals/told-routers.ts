import type { Cluster } from '../../feature.ts';
import type { Clock } from '../../platform/core/clock.ts';
import { Listeners } from '../../platform/core/listeners.ts';
import type { Log } from '../../platform/core/log.ts';
import { ToldFacts } from '../../platform/nodes/told-facts.ts';
import type { ChangeMark } from '../../platform/storage/changed-since.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { MoveChange, RouterRecord } from '../routers/types.ts';
import type { StatesService } from '../states/service.ts';
import { HAVE_PLACES_CHANGED, selectChangedPlaces, selectPlaces, selectRecords } from './store.ts';
import type { RouterPlace } from './store.ts';
import type { RemovalChange } from './types.ts';

interface Deps {
  storage: Storage;
  clock: Clock;
  log: Log;
  cluster: Pick<Cluster, 'bus' | 'looks'>;
  states: Pick<StatesService, 'find'>;
  removals: { changes: Listeners<RemovalChange> };
  moves: { changes: Listeners<MoveChange> };
}

/** A router that has another agent now. */
export interface MovedElsewhere {
  router: RouterRecord;
  formerAgentId: string;
}

/** Routers that other control planes have removed, replaced, or given to another agent: memory here must follow. */
export class ToldRouters {
  readonly removed = new Listeners<RemovalChange>();
  readonly moved = new Listeners<MovedElsewhere>();
  readonly #deps: Deps;
  readonly #told: ToldFacts;
  #mark: ChangeMark;
  #unsubscribe: (() => void)[] = [];

  constructor(deps: Deps) {
    this.#deps = deps;
    const { clock, log, cluster, storage } = deps;
    this.#told = new ToldFacts({
      cluster,
      clock,
      log,
      subject: 'signalbox.facts.routers',
      failure: 'routers that other control planes have changed could not be read',
      asks: HAVE_PLACES_CHANGED,
      readChanged: async () => {
        const { rows, mark } = await selectChangedPlaces(storage.db, this.#mark);
        await this.#apply(rows);
        this.#mark = mark;
      },
      readOf: async (ids) => this.#apply(await selectPlaces(storage.db, ids)),
    });
  }

  async start(): Promise<void> {
    const { removals, moves } = this.#deps;
    this.#unsubscribe = [
      removals.changes.subscribe((change) =>
        this.#told.tell(change.kind === 'removed' ? [change.router.id] : [change.mergedId, change.router.id]),
      ),
      moves.changes.subscribe(({ kind, router }) => {
        if (kind === 'moved') this.#told.tell([router.id]);
      }),
    ];
    await this.#told.start();
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    await this.#told.stop();
  }

  async #apply(places: readonly RouterPlace[]): Promise<void> {
    const { storage, states } = this.#deps;
    const changed = places.filter(({ id, agent_id: agentId, removed_at: removedAt }) => {
      const known = states.find(id);
      return known && (removedAt !== null || known.agentId !== agentId);
    });
    if (changed.length === 0) return;
    const successors = changed.map(({ merged_into: into }) => into).filter((id) => id !== null);
    const records = await selectRecords(storage.db, [...changed.map(({ id }) => id), ...successors]);
    for (const { id } of changed) this.#publish(records, id);
  }

  #publish(records: ReadonlyMap<string, RouterRecord>, id: string): void {
    const router = records.get(id);
    const known = this.#deps.states.find(id);
    if (!router || !known) return;
    const successor = router.merged_into === null ? undefined : records.get(router.merged_into);
    const { hardware_id: formerHardwareId, serial_number: formerSerialNumber } = router;
    if (successor) this.removed.publish({ kind: 'replaced', router: successor, formerHardwareId, formerSerialNumber, mergedId: id });
    else if (router.removed_at !== null) this.removed.publish({ kind: 'removed', router });
    else if (known.agentId !== router.agent_id) this.moved.publish({ router, formerAgentId: known.agentId });
  }
}
