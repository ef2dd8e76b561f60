import { QueryClient } from '@tanstack/react-query';
import { ApiClient } from '../../../client/browser.ts';
import type { Me, StreamEvent } from '../../../client/browser.ts';
import type { Session } from '../session/session.ts';
import { Live } from './live.ts';
import { RouterStore } from './router-store.ts';

/** Routers of one request. */
const PAGE = 5000;
/** A list is read again at most this often because of events, milliseconds. */
const REREAD_MS = 2000;

/** Kinds of events, and the queries whose answers they change. */
const STALE_BY_EVENT: Record<string, readonly string[]> = {
  agent: ['overview', 'agents', 'history'],
  router: ['overview', 'router', 'availability', 'history'],
  job: ['overview', 'jobs', 'history'],
  campaign: ['overview', 'campaigns'],
  forward: ['overview', 'forwards', 'history'],
  fault: ['overview', 'faults', 'history'],
};

/** What every page shares: the interface, the routers, and the stream of changes. */
export class Fleet {
  readonly api: ApiClient;
  readonly queries = new QueryClient({ defaultOptions: { queries: { staleTime: 30_000, retry: false } } });
  readonly routers = new RouterStore();
  readonly live: Live;
  readonly me: Me;
  #reread: ReturnType<typeof setTimeout> | undefined;
  #stale = new Set<string>();

  private constructor(api: ApiClient, me: Me, position: string, session: Session) {
    this.api = api;
    this.me = me;
    this.live = new Live(position, { token: () => session.token(), onEvents: (events) => this.#onEvents(events) });
  }

  /** Reads who is signed in and all routers, then follows the events from before that reading. */
  static async open(session: Session): Promise<Fleet> {
    const api = new ApiClient({ server: location.origin, key: () => session.token() });
    const [me, first] = await Promise.all([api.call('whoAmI', {}), readRouters(api)]);
    const fleet = new Fleet(api, me.data, first.position, session);
    fleet.routers.load(first.routers);
    return fleet;
  }

  #onEvents(events: readonly StreamEvent[]): void {
    if (this.routers.apply(events)) this.#stale.add('routers');
    for (const { type } of events) {
      for (const key of STALE_BY_EVENT[type.split('.')[0]!] ?? Object.values(STALE_BY_EVENT).flat()) this.#stale.add(key);
    }
    this.#reread ??= setTimeout(() => void this.#readAgain(), REREAD_MS);
  }

  async #readAgain(): Promise<void> {
    this.#reread = undefined;
    const stale = this.#stale;
    this.#stale = new Set();
    if (stale.has('routers')) this.routers.load((await readRouters(this.api)).routers);
    await this.queries.invalidateQueries({ predicate: ({ queryKey }) => stale.has(String(queryKey[0])) });
  }
}

async function readRouters(api: ApiClient) {
  const first = await api.read('listRouters', { query: { limit: PAGE } });
  const routers = [...first.result.data];
  if (routers.length === PAGE) {
    routers.length = 0;
    for await (const router of api.pages('listRouters', { query: { limit: PAGE } })) routers.push(router);
  }
  return { routers, position: first.eventId ?? '' };
}
