import type { ApiClient, Router, RouterAvailability } from '../../../client/browser.ts';
import { railsOfBuckets } from '../rails/from-buckets.ts';
import type { Rails, Span } from '../rails/pieces.ts';
import type { RouterStore } from './router-store.ts';
import { serverNow } from './server-clock.ts';

/** Routers of one request: the interface takes no more (docs/history.md). */
const MOST = 200;
/** Rows that come into sight together are asked for together, milliseconds. */
const GATHER_MS = 120;
/** Between two requests, milliseconds: routers that change all the time must not use up the person's requests. */
const PAUSE_MS = 2000;
/** Hours are read again when they are older, milliseconds. */
const OLD_MS = 300_000;
/** After a request that failed, milliseconds. */
const AGAIN_MS = 30_000;

export type Buckets = RouterAvailability['buckets'];

interface Entry {
  buckets: Buckets;
  readAt: number;
}

/** Rails that were worked out of these buckets for a time that ends then. */
interface Kept {
  buckets: Buckets;
  to: number;
  rails: Rails;
}

/** The last 24 hours of the routers in sight, by hours: read when somebody looks at them, and again when their state has changed. */
export class RailsStore {
  readonly #api: Pick<ApiClient, 'call'>;
  readonly #routers: RouterStore;
  readonly #isInSight: () => boolean;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Map<string, Set<() => void>>();
  /** Those that somebody looks at and that have no hours yet. */
  readonly #unread = new Set<string>();
  readonly #worked = new WeakMap<Router, Kept>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #dueAt = Infinity;
  #isReading = false;
  #lastRequest = 0;
  #lastAnswer = 0;
  /** After a failure nothing is asked before this time, milliseconds since 1970. */
  #notBefore = 0;

  /** @param isInSight whether anybody can see the page: nothing is read for others */
  constructor(api: Pick<ApiClient, 'call'>, routers: RouterStore, isInSight: () => boolean) {
    this.#api = api;
    this.#routers = routers;
    this.#isInSight = isInSight;
  }

  /** Changes with every answer; for those who look at many routers together. */
  get version(): number {
    return this.#lastAnswer;
  }

  get(id: string): Buckets | undefined {
    return this.#entries.get(id)?.buckets;
  }

  /**
   * The rails of a router; the same object as long as neither its hours nor the router have changed. A board of thousands of routers asks for all
   * of them at every change of one.
   */
  railsOf(router: Router, span: Span): Rails | undefined {
    const buckets = this.get(router.id);
    if (!buckets) return undefined;
    const kept = this.#worked.get(router);
    if (kept?.buckets === buckets && kept.to === span.to) return kept.rails;
    const rails = railsOfBuckets(buckets, router, span);
    this.#worked.set(router, { buckets, to: span.to, rails });
    return rails;
  }

  /** While somebody listens, the hours of this router are kept fresh. */
  subscribe(id: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, listeners.add(listener));
    const leave = this.#routers.subscribeTo(id, () => this.#readSoon());
    if (!this.#entries.has(id)) this.#unread.add(id);
    this.#readSoon();
    return () => {
      leave();
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(id) === listeners) {
        this.#listeners.delete(id);
        this.#unread.delete(id);
      }
    };
  }

  /** The page came into sight. */
  show(): void {
    if (this.#listeners.size > 0) this.#readSoon();
  }

  #readSoon(): void {
    this.#readIn(this.#unread.size > 0 ? GATHER_MS : Math.max(GATHER_MS, this.#lastRequest + PAUSE_MS - serverNow()));
  }

  /** The earliest time that was asked for counts. */
  #readIn(ms: number): void {
    const now = serverNow();
    const dueAt = Math.max(now + ms, this.#notBefore);
    if (this.#dueAt <= dueAt || this.#isReading) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => void this.#read(), dueAt - now);
  }

  async #read(): Promise<void> {
    this.#dueAt = Infinity;
    if (!this.#isInSight()) return;
    this.#isReading = true;
    const hasFailed = await this.#readOld().then(
      () => false,
      // Rails are no reason for a message: the row says its state without them.
      () => true,
    );
    this.#isReading = false;
    if (hasFailed) this.#notBefore = serverNow() + AGAIN_MS;
    if (this.#listeners.size === 0) return;
    if (hasFailed) this.#readIn(AGAIN_MS);
    // More rows came into sight than one request has room for.
    else if (this.#unread.size > 0) this.#readIn(0);
    else if ([...this.#listeners.keys()].some((id) => this.#isOld(id))) this.#readSoon();
    else this.#readIn(OLD_MS);
  }

  async #readOld(): Promise<void> {
    const wanted = this.#unread.size > 0 ? [...this.#unread] : [...this.#listeners.keys()].filter((id) => this.#isOld(id));
    const ids = wanted.slice(0, MOST);
    if (ids.length === 0) return;
    this.#lastRequest = serverNow();
    const query = { bucket: 'hour', router_ids: ids, limit: MOST } as const;
    const { data } = await this.#api.call('listAvailability', { query });
    this.#lastAnswer += 1;
    for (const { router_id: id, buckets } of data) this.#keep(id, buckets);
    // A router that was removed meanwhile has none, and is not asked for again.
    for (const id of ids) if (!this.#entries.has(id)) this.#keep(id, []);
  }

  #keep(id: string, buckets: Buckets): void {
    this.#entries.set(id, { buckets, readAt: serverNow() });
    this.#unread.delete(id);
    for (const listener of this.#listeners.get(id) ?? []) listener();
  }

  #isOld(id: string): boolean {
    const entry = this.#entries.get(id);
    if (!entry) return true;
    const changed = Date.parse(this.#routers.get(id)?.state_since ?? '');
    return serverNow() - entry.readAt > OLD_MS || changed > entry.readAt;
  }
}
