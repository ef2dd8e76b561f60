import type { Clock } from '../../platform/core/clock.ts';
import type { Log } from '../../platform/core/log.ts';
import { Periodic } from '../../platform/core/periodic.ts';
import type { ForwardsService } from '../../work/forwards/service.ts';
import type { EventsService } from './service.ts';

/** Smooth for a person who watches, and 30 short events a minute for each watched forward. */
export const TRAFFIC_EVERY_MS = 2000;

export interface ForwardTrafficDeps {
  clock: Clock;
  log: Log;
  events: Pick<EventsService, 'watchedForwards' | 'tellWatchers'>;
  forwards: Pick<ForwardsService, 'open'>;
}

/** Tells the streams that watch a forward about its traffic when it has changed. Nobody watches: no work. */
export class ForwardTraffic {
  readonly #deps: ForwardTrafficDeps;
  readonly #looks: Periodic;

  constructor(deps: ForwardTrafficDeps) {
    this.#deps = deps;
    this.#looks = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: TRAFFIC_EVERY_MS,
      failure: 'the traffic of watched forwards could not be read',
      run: () => this.#look(),
    });
  }

  start(): void {
    this.#looks.start();
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
  }

  async #look(): Promise<void> {
    const { events, forwards } = this.#deps;
    for (const [teamId, ids] of events.watchedForwards()) {
      for (const view of await forwards.open(teamId, ids)) {
        const { id, router_id } = view.record;
        const data = {
          forward_id: id,
          router_id,
          open_connections: view.openConnections,
          connection_count: view.connectionCount,
          bytes_in: view.bytesIn,
          bytes_out: view.bytesOut,
        };
        events.tellWatchers(teamId, id, data);
      }
    }
  }
}
