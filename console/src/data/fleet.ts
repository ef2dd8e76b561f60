import { QueryClient } from '@tanstack/react-query';
import { ApiClient } from '../../../client/browser.ts';
import type { Me, Router, StreamEvent } from '../../../client/browser.ts';
import type { Session } from '../session/session.ts';
import { holderOf } from '../session/tokens.ts';
import { takeFigures } from './figures.ts';
import { LastEvents } from './last-events.ts';
import { fetchWithDate } from './server-clock.ts';
import { Live } from './live.ts';
import { readAgain } from './long-lists.ts';
import { Preferences } from './preferences.ts';
import { RailsStore } from './rails-store.ts';
import { RouterStore } from './router-store.ts';
import { Who } from './who.ts';

/** Routers of one request. */
const PAGE = 5000;
/** A list is read again at most this often because of events, milliseconds. */
const REREAD_MS = 2000;
/** Without a stream the page reads what it shows this often, milliseconds. */
const POLL_MS = 30_000;
/** The routers are no query: they are kept in a store of their own. */
const ROUTERS = 'routers';

/** Targets of a campaign: read again by its page, at most as often as their number allows (`use-targets.ts`). */
export const TARGETS = 'campaign-targets';
/** What people set up for notifications. */
export const GROUPS = 'notification-groups';
export const CHANNELS = 'notification-targets';
export const SILENCES = 'silences';
/** What became of it. */
export const THREADS = 'notification-threads';
export const MESSAGES = 'notifications';

/** Events or kinds of events, and the queries whose answers they change. */
const STALE_BY_EVENT: Record<string, readonly string[]> = {
  agent: ['overview', 'agents', 'enrol-tokens', 'history', 'sessions'],
  'agent.updated': ['overview', 'agents', 'router'],
  router: ['overview', 'router', 'availability', 'history'],
  'router.updated': ['overview', 'router', 'sites'],
  // Its silences go with it.
  'router.removed': ['overview', 'router', 'availability', 'history', SILENCES],
  job: ['overview', 'jobs', 'history'],
  campaign: ['overview', 'campaigns', TARGETS],
  backup: ['backups', 'history'],
  config: ['backups'],
  forward: ['overview', 'forwards', 'history'],
  fault: ['overview', 'faults', 'history'],
  terminal: ['overview', 'terminals', 'own terminal', 'history'],
  // What is removed disappears from groups, and silences and schedules of backups end with their site.
  site: ['overview', 'sites', GROUPS, SILENCES, 'backups'],
  member: ['members', 'invitations', 'api-keys', GROUPS],
  // What a receiver answers may switch its address off.
  notification: [THREADS, MESSAGES, CHANNELS, GROUPS],
  group: [GROUPS],
  topic: ['topics', GROUPS],
  schedule: ['schedules', GROUPS],
  target: [CHANNELS, GROUPS],
  silence: [SILENCES],
};

const EVERY_KEY = [...new Set(Object.values(STALE_BY_EVENT).flat())];

type Hears = (event: StreamEvent) => void;

/** What every page shares: the interface, the routers, and the stream of changes. */
export class Fleet {
  readonly api: ApiClient;
  readonly queries = new QueryClient({ defaultOptions: { queries: { staleTime: 30_000, retry: false } } });
  readonly routers = new RouterStore();
  readonly rails: RailsStore;
  readonly events = new LastEvents();
  readonly live: Live;
  readonly who: Who;
  readonly preferences: Preferences;
  readonly #hearers = new Set<Hears>();
  #reread: ReturnType<typeof setTimeout> | undefined;
  #stale = new Set<string>();

  private constructor(api: ApiClient, { me, preferences }: { me: Me; preferences: Preferences }, session: Session) {
    this.api = api;
    this.rails = new RailsStore(api, this.routers, isInSight);
    this.who = new Who(api, me, () => void session.tokens.check().catch(() => undefined));
    this.preferences = preferences;
    this.live = new Live({
      holder: holderOf(me),
      token: () => session.token(),
      onEvents: (events) => this.#onEvents(events),
      onOpen: () => this.#onOpen(),
      onRefused: () => void this.who.readAgain(),
    });
    session.tokens.subscribe(() => (session.tokens.other === undefined ? undefined : this.who.end()));
    setInterval(() => this.#poll(), POLL_MS);
    document.addEventListener('visibilitychange', () => this.#onSight());
  }

  /** Reads who is signed in and all routers, then follows the events from before that reading. */
  static async open(session: Session): Promise<Fleet> {
    const api = new ApiClient({ server: location.origin, key: () => session.token(), fetch: fetchWithDate });
    const [{ data: me }, preferences] = await Promise.all([api.call('whoAmI', {}), Preferences.read(api)]);
    session.hold(me);
    const fleet = new Fleet(api, { me, preferences }, session);
    const { routers, position } = await readRouters(api);
    fleet.routers.load(routers);
    fleet.live.start(position);
    return fleet;
  }

  /** Who is signed in, with the role of now. */
  get me(): Me {
    return this.who.me;
  }

  /** Calls with every event from now on. @returns how to end it */
  hear(hears: Hears): () => void {
    this.#hearers.add(hears);
    return () => this.#hearers.delete(hears);
  }

  #onEvents(events: readonly StreamEvent[]): void {
    this.events.add(events);
    if (this.routers.apply(events)) this.#stale.add(ROUTERS);
    if (events.some((event) => this.who.isConcerned(event))) void this.who.readAgain();
    for (const event of events) {
      for (const hears of this.#hearers) hears(event);
      if (takeFigures(this.queries, event)) continue;
      for (const key of STALE_BY_EVENT[event.type] ?? STALE_BY_EVENT[event.type.split('.')[0]!] ?? EVERY_KEY) this.#stale.add(key);
    }
    if (this.#stale.size > 0) this.#readAgainSoon();
  }

  /** The session is good, and the control plane answers. */
  #onOpen(): void {
    if (this.who.isRefused) void this.who.readAgain();
    void this.queries.invalidateQueries({ predicate: ({ state }) => state.status === 'error' });
  }

  /** Without a stream, everything may have changed. */
  #poll(): void {
    if (this.live.state.kind !== 'refused' || !isInSight()) return;
    if (!this.who.isRefused) void this.who.readAgain();
    for (const key of [ROUTERS, ...EVERY_KEY]) this.#stale.add(key);
    this.#readAgainSoon();
  }

  /** What was told while nobody could see the page. */
  #onSight(): void {
    if (!isInSight()) return;
    this.rails.show();
    this.#poll();
    if (this.#stale.size > 0) this.#readAgainSoon();
  }

  #readAgainSoon(): void {
    this.#reread ??= setTimeout(() => void this.#readAgain(), REREAD_MS);
  }

  async #readAgain(): Promise<void> {
    const stale = this.#stale;
    this.#stale = new Set();
    try {
      if (stale.has(ROUTERS) && !isInSight()) this.#stale.add(ROUTERS);
      else if (stale.has(ROUTERS)) await this.routers.reload(async () => (await readRouters(this.api)).routers);
    } catch {
      // The control plane does not answer, which the mark of the stream shows. What was stale still is.
      for (const key of stale) this.#stale.add(key);
    }
    await readAgain(this.queries, ({ queryKey }) => stale.has(String(queryKey[0])), isInSight());
    this.#reread = undefined;
    if (this.#stale.size > 0 && isInSight()) this.#readAgainSoon();
  }
}

/** Whether anybody can see this page. Hidden tabs take events, and read nothing because of them. */
function isInSight(): boolean {
  return !document.hidden;
}

/** All routers of the team, and where the stream of events stood before the first was read. */
async function readRouters(api: ApiClient): Promise<{ routers: Router[]; position: string }> {
  const { result, next, eventId } = await api.read('listRouters', { query: { limit: PAGE } });
  const routers = [...result.data];
  for (let cursor = next; cursor !== undefined;) {
    const page = await api.read('listRouters', { query: { limit: PAGE, cursor } });
    routers.push(...page.result.data);
    cursor = page.next;
  }
  return { routers, position: eventId ?? '' };
}
