import type { Clock } from '../../../platform/core/clock.ts';
import type { Log } from '../../../platform/core/log.ts';
import { Periodic } from '../../../platform/core/periodic.ts';
import { sampledLog } from '../../../platform/core/sampled-log.ts';
import type { Poster } from '../../../platform/outgoing/poster.ts';

/** Services that watch such calls expect one a minute, or fewer. */
const EVERY_MS = 60_000;
/** The pipeline looks every 30 s, and a look may wait for a busy database. */
const STANDS_AFTER_MS = 90_000;

export interface HeartbeatDeps {
  clock: Clock;
  log: Log;
  poster: Pick<Poster, 'post'>;
  url: string;
  /** When each part of the pipeline last finished a look, by the monotonic clock; undefined before the first. */
  looks: () => readonly (number | undefined)[];
}

/**
 * Calls a URL of the operator while notifications are decided and sent. Somebody outside hears that the calls have stopped: nothing inside
 * could tell them.
 */
export class Heartbeat {
  readonly #deps: HeartbeatDeps;
  readonly #log: Log;
  readonly #periodic: Periodic;

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps;
    this.#log = sampledLog(deps.log, deps.clock);
    this.#periodic = new Periodic({
      clock: deps.clock,
      log: deps.log,
      everyMs: EVERY_MS,
      failure: 'the heartbeat of notifications could not be sent',
      run: (signal) => this.beat(signal),
    });
  }

  start(): void {
    this.#periodic.start();
  }

  async stop(): Promise<void> {
    await this.#periodic.stop();
  }

  /** One call, unless a part of the pipeline stands still. */
  async beat(signal: AbortSignal): Promise<void> {
    const { clock, poster, url, looks } = this.#deps;
    const since = clock.monotonic() - STANDS_AFTER_MS;
    if (looks().some((at) => at === undefined || at < since)) return;
    const headers = { 'user-agent': 'Signalbox-Heartbeat/1', 'content-type': 'text/plain' };
    const result = await poster.post({ url, headers, body: '' }, signal);
    if (result.outcome === 'failed')
      this.#log.warn(
        { reason: result.status === null ? result.error : `HTTP ${result.status}` },
        'the heartbeat of notifications was not accepted; the next follows in a minute',
      );
  }
}
