import type { Cluster } from '../../feature.ts';
import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import { ToldFacts } from '../../platform/nodes/told-facts.ts';
import type { ChangeMark } from '../../platform/storage/changed-since.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { PresenceTracker } from './presence.ts';
import { HAS_PRESENCE_CHANGED, selectChangedPresence } from './store.ts';

interface Deps {
  storage: Storage;
  clock: Clock;
  log: Log;
  cluster: Pick<Cluster, 'bus' | 'looks'>;
  presence: PresenceTracker;
}

/** Presence of routers whose agents have their tunnels with other control planes, as those store it. */
export class ToldPresence {
  readonly #deps: Deps;
  readonly #told: ToldFacts;
  #mark: ChangeMark;

  constructor(deps: Deps) {
    this.#deps = deps;
    const { clock, log, cluster } = deps;
    this.#told = new ToldFacts({
      cluster,
      clock,
      log,
      subject: 'signalbox.facts.presence',
      failure: 'what other control planes have stored of the presence of routers could not be read',
      asks: HAS_PRESENCE_CHANGED,
      readChanged: () => this.#read(),
      readOf: () => this.#read(),
    });
  }

  start(): Promise<void> {
    return this.#told.start();
  }

  stop(): Promise<void> {
    return this.#told.stop();
  }

  /** Presence was stored here: the others shall read it. */
  onStored(): void {
    this.#told.tellAll();
  }

  async #read(): Promise<void> {
    const { storage, presence } = this.#deps;
    const { presence: changed, mark } = await selectChangedPresence(storage.db, this.#mark);
    for (const row of changed) presence.tell(row.routerId, row.presence);
    this.#mark = mark;
  }
}
