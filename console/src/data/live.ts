import type { StreamEvent } from '../../../client/browser.ts';
import type { FromWorker, ToWorker } from './live-messages.ts';

const LOCK = 'signalbox-events';
const CHANNEL = 'signalbox-events';

/** How the page hears of changes. */
export type LiveState =
  | { kind: 'connecting' }
  /** `newsAt`: when anything was heard last, heartbeats included, milliseconds since 1970. */
  | { kind: 'live'; newsAt: number }
  | { kind: 'refused'; message: string };

type Batch = Extract<FromWorker, { kind: 'batch' }>;

interface Deps {
  token: () => Promise<string>;
  onEvents: (events: readonly StreamEvent[]) => void;
}

/**
 * One event stream for all tabs of a browser: the tab that holds the lock reads it in a worker and tells the others. When that tab closes, the
 * next one goes on from the position that it has heard of. Plain http pages have no locks: there each tab has its own stream.
 */
export class Live {
  readonly #deps: Deps;
  readonly #channel = new BroadcastChannel(CHANNEL);
  readonly #listeners = new Set<() => void>();
  #state: LiveState = { kind: 'connecting' };
  #position: string;

  /** @param position where the stream stood before the first list was read */
  constructor(position: string, deps: Deps) {
    this.#position = position;
    this.#deps = deps;
    this.#channel.addEventListener('message', ({ data }: MessageEvent<Batch>) => this.#take(data));
    if (!('locks' in navigator)) this.#read();
    else void navigator.locks.request(LOCK, () => this.#readForEver());
  }

  get state(): LiveState {
    return this.#state;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The lock is held until the tab closes. */
  #readForEver(): Promise<never> {
    this.#read();
    return new Promise(() => undefined);
  }

  #read(): void {
    const worker = new Worker(new URL('./live-worker.ts', import.meta.url), { type: 'module' });
    const tell = (message: ToWorker): void => worker.postMessage(message);
    worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
      if (data.kind === 'token') void this.#deps.token().then((token) => tell({ kind: 'token', token }));
      else if (data.kind === 'batch') this.#share(data);
      else if (data.kind === 'refused') this.#change({ kind: 'refused', message: data.message });
    });
    tell({ kind: 'start', position: this.#position });
  }

  #share(batch: Batch): void {
    this.#channel.postMessage(batch);
    this.#take(batch);
  }

  #take({ events, position, at }: Batch): void {
    this.#position = position;
    if (events.length > 0) this.#deps.onEvents(events);
    this.#change({ kind: 'live', newsAt: at });
  }

  #change(state: LiveState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
