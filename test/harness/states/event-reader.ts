import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosFleet, ShownState } from './chaos-fleet.ts';

export interface EventHandler {
  onChange: (routerId: string, state: ShownState) => void;
  /** The stream has lost events. @param position of the stream now @returns where to go on reading */
  onResync: (position: string) => Promise<string>;
}

/** Soon enough to be there before a control plane that starts says anything, milliseconds. */
const AGAIN_AFTER_MS = 20;

/** Reads the changes of routers, and goes on behind the last event after every break. */
export class EventReader {
  /** Events that were read. */
  count = 0;
  readonly #fleet: ChaosFleet;
  readonly #handler: EventHandler;
  readonly #stop = new AbortController();
  #lastEventId: string;
  readonly #running: Promise<void>;

  /** @param position where to begin */
  constructor(fleet: ChaosFleet, position: string, handler: EventHandler) {
    this.#fleet = fleet;
    this.#handler = handler;
    this.#lastEventId = position;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      // It ends with the control plane.
      await this.#read().catch(() => undefined);
      await sleep(AGAIN_AFTER_MS);
    }
  }

  async #read(): Promise<void> {
    const stream = await fetch(`${this.#fleet.url}/api/events?types=router.changed`, {
      headers: { ...this.#fleet.headers, 'last-event-id': this.#lastEventId },
      signal: this.#stop.signal,
    });
    if (!stream.ok || !stream.body) return;
    let text = '';
    for await (const chunk of stream.body) {
      text += Buffer.from(chunk).toString();
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        if (await this.#take(text.slice(0, end))) return;
        text = text.slice(end + 2);
      }
    }
  }

  /** @returns true when the stream has to be opened again, at another position */
  async #take(block: string): Promise<boolean> {
    const field = (name: string): string | undefined => new RegExp(`^${name}: (.+)$`, 'm').exec(block)?.[1];
    const [id, type, data] = [field('id'), field('event'), field('data')];
    if (type === 'resync') {
      this.#lastEventId = await this.#handler.onResync(id!);
      return true;
    }
    if (id !== undefined) this.#lastEventId = id;
    if (type !== 'router.changed' || data === undefined) return false;
    this.count += 1;
    const { router_id: routerId, state, state_since, state_reason } = JSON.parse(data) as ShownState & { router_id: string };
    this.#handler.onChange(routerId, { state, state_since, state_reason });
    return false;
  }
}
