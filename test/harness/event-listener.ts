import { Signalbox } from '../../client/index.ts';
import type { EventOptions, StreamEvent } from '../../client/index.ts';
import { waitUntil } from './wait-until.ts';
import type { Caller, World } from './world.ts';

/** A listener and the events it received. */
export class Listener {
  readonly heard: StreamEvent[] = [];
  readonly #stop = new AbortController();
  readonly #listening: Promise<void>;

  private constructor(signalbox: Signalbox, options: EventOptions, onOpen: () => void) {
    this.#listening = this.#listen(signalbox.events({ ...options, signal: this.#stop.signal, onOpen }));
  }

  static async start(world: World, caller: Caller, options: EventOptions = {}): Promise<Listener> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const listener = new Listener(new Signalbox({ server: world.server.url, key: caller.apiKey }), options, resolve);
    await Promise.race([promise, listener.#listening]);
    return listener;
  }

  async #listen(events: AsyncGenerator<StreamEvent, never>): Promise<void> {
    try {
      for await (const event of events) this.heard.push(event);
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    }
  }

  get types(): string[] {
    return this.heard.map(({ type }) => type);
  }

  async hears(type: string): Promise<StreamEvent> {
    return waitUntil(`${type} is heard`, () => this.heard.find((event) => event.type === type));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#listening;
  }
}
