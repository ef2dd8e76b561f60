import type { StreamEvent } from '../../../client/browser.ts';
import type { FromWorker, Hello, News, ToWorker, Watching } from './live-messages.ts';
import { whyMissing } from './updated.ts';
import { Watched } from './watched.ts';

/** A refused stream is tried again after this time, milliseconds: another browser of this person may have closed its own. */
const REFUSED_AGAIN_MS = 60_000;
/** How often a tab looks whether the reading tab has died, milliseconds. */
const LOOK_MS = 10_000;
/** Looks without news after which the reading tab counts as frozen: the server sends something every 15 s. */
const SILENT_LOOKS = 4;

/** How the page hears of changes. */
export type LiveState =
  | { kind: 'connecting' }
  /** `newsAt`: when anything was heard last, heartbeats included, milliseconds since 1970. */
  | { kind: 'live'; newsAt: number }
  /** The page reads by itself instead, now and then. */
  | { kind: 'refused'; message: string };

interface Deps {
  /** Whose events these are: tabs of one person in one team share a stream, and no others. */
  holder: string;
  /** Rejects while the control plane does not answer. */
  token: () => Promise<string>;
  onEvents: (events: readonly StreamEvent[]) => void;
  /** The stream is open: what failed to be read before may be read now. */
  onOpen: () => void;
  /** The control plane refuses the stream. */
  onRefused: () => void;
}

/**
 * One event stream for all tabs of a browser: the tab that holds the lock reads it in a worker and tells the others. When that tab closes or
 * freezes, the next one goes on from the position that it has heard of. Plain http pages have no locks: there each tab has its own stream.
 *
 * Made before the first list is read: what the others tell from then on is kept until {@link start}, so that no change falls between a list
 * and the stream.
 */
export class Live {
  readonly #deps: Deps;
  /** Of the lock and of the channel. */
  readonly #name: string;
  readonly #channel: BroadcastChannel;
  readonly #listeners = new Set<() => void>();
  #early: News[] | undefined = [];
  #state: LiveState = { kind: 'connecting' };
  #position = '';
  #worker: Worker | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;
  #waiting = new AbortController();
  #silentLooks = 0;
  readonly #watched = new Watched();
  /** What the stream of this tab watches. */
  #asked = '';

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#name = `signalbox-events ${deps.holder}`;
    this.#channel = new BroadcastChannel(this.#name);
    this.#channel.addEventListener('message', ({ data }: MessageEvent<News | Watching | Hello>) => {
      if (data.kind === 'watching') {
        this.#watched.hear(data);
        this.#askForTraffic();
      } else if (data.kind === 'hello') this.#tellNewcomer();
      else if (this.#early) this.#early.push(data);
      else this.#take(data);
    });
  }

  /** @param position where the stream stood before the first list was read */
  start(position: string): void {
    this.#position = position;
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const news of early) this.#take(news);
    this.#channel.postMessage({ kind: 'hello' } satisfies Hello);
    if (!('locks' in navigator)) return this.#read();
    this.#lead({ signal: this.#waiting.signal });
    setInterval(() => this.#look(), LOOK_MS);
  }

  get state(): LiveState {
    return this.#state;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** From now on the stream tells of this forward's traffic, whichever tab reads it. @returns how to end it */
  watch(forwardId: string): () => void {
    this.#watched.add(forwardId);
    this.#tellWish();
    return () => {
      this.#watched.remove(forwardId);
      this.#tellWish();
    };
  }

  /** Where the stream stands. Whatever came since it was opened, the other tab has heard as well. */
  #tellNewcomer(): void {
    if (!this.#worker || this.#state.kind !== 'live') return;
    this.#channel.postMessage({ kind: 'batch', events: [], position: this.#position, at: this.#state.newsAt } satisfies News);
  }

  #tellWish(): void {
    this.#channel.postMessage(this.#watched.wish);
    this.#askForTraffic();
  }

  #askForTraffic(): void {
    const watch = this.#watched.forwards;
    if (!this.#worker || this.#asked === watch.join()) return;
    this.#asked = watch.join();
    this.#worker.postMessage({ kind: 'watch', watch } satisfies ToWorker);
  }

  /** Reads as soon as this tab has the lock, until the tab closes or another one takes the lock away. */
  #lead(options: LockOptions): void {
    const held = navigator.locks.request(this.#name, options, () => {
      this.#read();
      return new Promise<never>(() => undefined);
    });
    held.catch(() => {
      // Taken away, or this tab stopped waiting because it takes the lock itself.
      if (!this.#worker) return;
      this.#stop();
      this.#waiting = new AbortController();
      this.#lead({ signal: this.#waiting.signal });
    });
  }

  /** Counts looks and not minutes: after the computer slept, the reading tab gets as long as ever. */
  #look(): void {
    this.#watched.look();
    this.#tellWish();
    this.#silentLooks += 1;
    if (this.#worker || this.#state.kind === 'refused' || this.#silentLooks < SILENT_LOOKS) return;
    this.#silentLooks = 0;
    this.#waiting.abort();
    this.#lead({ steal: true });
  }

  #read(): void {
    const worker = new Worker(new URL('./live-worker.ts', import.meta.url), { type: 'module' });
    this.#worker = worker;
    worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
      if (data.kind === 'token') void this.#giveToken(worker);
      else this.#share(data);
    });
    worker.addEventListener('error', (event) => {
      // Its own errors have a message. Without one, its file could not be loaded.
      if (!(event instanceof ErrorEvent)) void this.#shareMissing(worker);
    });
    const watch = this.#watched.forwards;
    this.#asked = watch.join();
    worker.postMessage({ kind: 'start', position: this.#position, watch } satisfies ToWorker);
  }

  async #shareMissing(worker: Worker): Promise<void> {
    const message = await whyMissing();
    // Another tab may read by now.
    if (this.#worker === worker) this.#share({ kind: 'refused', message });
  }

  async #giveToken(worker: Worker): Promise<void> {
    const token = await this.#deps.token().catch(() => null);
    worker.postMessage({ kind: 'token', token } satisfies ToWorker);
  }

  #stop(): void {
    clearTimeout(this.#again);
    this.#worker?.terminate();
    this.#worker = undefined;
  }

  #share(news: News): void {
    this.#channel.postMessage(news);
    this.#take(news);
    if (news.kind === 'refused') {
      this.#worker?.terminate();
      this.#again = setTimeout(() => this.#read(), REFUSED_AGAIN_MS);
    }
  }

  #take(news: News): void {
    this.#silentLooks = 0;
    if (news.kind === 'open') return this.#deps.onOpen();
    if (news.kind === 'refused') {
      this.#change({ kind: 'refused', message: news.message });
      return this.#deps.onRefused();
    }
    this.#position = news.position;
    if (news.events.length > 0) this.#deps.onEvents(news.events);
    this.#change({ kind: 'live', newsAt: news.at });
  }

  #change(state: LiveState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
