import type { Clock } from '../../platform/core/clock.ts';
import { invalidField, notFound } from '../../platform/core/errors.ts';
import { nextTurn } from '../../platform/core/loop-turns.ts';
import type { Page } from '../../platform/core/page.ts';
import { ianaTimeZone } from '../../platform/core/time-zone.ts';
import type { Storage } from '../../platform/storage/db.ts';
import type { KnownRuns } from '../sessions/types.ts';
import type { StatesService } from '../states/service.ts';
import { bucketsOf, usualBeginning } from './buckets.ts';
import { selectPlacedRouters, selectRuns, selectStatesBefore, statesDuring } from './store.ts';
import type { PlacedRouter, StateRow } from './store.ts';
import { Tally, union } from './tally.ts';
import type { Availability, BucketSize, Share, Span } from './types.ts';

/** Buckets of one router in one answer: six weeks by the hour, 200 kB. */
export const MOST_BUCKETS = 1000;
/** Buckets of each of several routers: with 200 routers an answer has 20,000, about 3 MB. */
export const MOST_BUCKETS_EACH = 100;

/**
 * Changes of state that one answer may be made of: reading them takes about half a second. A router has a few a day; 200 routers may have
 * a hundred each.
 */
const MOST_CHANGES = 100_000;

export interface AvailabilityDeps {
  storage: Storage;
  clock: Clock;
  states: Pick<StatesService, 'history'>;
  runs: Pick<KnownRuns, 'currentId'>;
  mostChanges?: number;
}

/** The requested range. */
export interface Question {
  size: BucketSize;
  /** Milliseconds since 1970. Missing: the usual number of buckets before the end. */
  from: number | undefined;
  /** Missing or in the future: now. */
  to: number | undefined;
  /** Missing: the one of each router's site, else the router's own, else UTC. */
  timeZone: string | undefined;
}

/** Time of routers in each state, from their history and the runs of the control plane. */
export class AvailabilityService {
  readonly #deps: AvailabilityDeps;

  constructor(deps: AvailabilityDeps) {
    this.#deps = deps;
  }

  /**
   * Of one router, also of one that was removed.
   * @throws AppError `not_found`, also for another team's router; `invalid` for a time that has no or too many buckets, or too many
   *   changes of state
   */
  async ofRouter(teamId: string, routerId: string, question: Question): Promise<Availability> {
    const [router] = await selectPlacedRouters(this.#deps.storage.db, teamId, [routerId], { limit: 1, before: undefined });
    if (!router) throw notFound('router');
    const [availability] = await this.#read(teamId, [router], question, MOST_BUCKETS);
    return availability!;
  }

  /**
   * Of a page of routers, newest first. Ids of other teams' routers find nothing.
   * @throws AppError `invalid` for a time that has no or too many buckets, or too many changes of state
   */
  async ofRouters(
    teamId: string,
    routerIds: readonly string[] | undefined,
    question: Question,
    page: Page,
  ): Promise<{ routers: PlacedRouter[]; availabilities: Availability[] }> {
    const routers = await selectPlacedRouters(this.#deps.storage.db, teamId, routerIds, page);
    return { routers, availabilities: await this.#read(teamId, routers, question, MOST_BUCKETS_EACH) };
  }

  async #read(teamId: string, routers: readonly PlacedRouter[], question: Question, most: number): Promise<Availability[]> {
    const now = this.#deps.clock.now();
    const spansIn = await cutInEach(routers, question, now, most);
    const plans = routers.map((router) => ({ router, ...spansIn.get(zoneFor(router, question))! }));
    if (plans.length === 0) return [];
    const whole = {
      from: Math.min(...plans.map(({ spans }) => spans[0]!.from)),
      to: Math.max(...plans.map(({ spans }) => spans.at(-1)!.to)),
    };
    await this.#deps.states.history.stored();
    const known = await this.#knownTimes(whole, now);
    const ids = routers.map(({ id }) => id);
    const before = new Map(
      (await selectStatesBefore(this.#deps.storage.db, teamId, ids, whole.from)).map((state) => [state.router_id, state]),
    );
    const { mostChanges = MOST_CHANGES } = this.#deps;
    const availabilities: Availability[] = [];
    let changes = 0;
    for (const { router, timeZone, spans } of plans) {
      const tally = new Tally(spans, known);
      const first = before.get(router.id);
      if (first) tally.add(stretchOf(first, now));
      for await (const states of statesDuring(this.#deps.storage.db, teamId, router.id, whole)) {
        await nextTurn();
        changes += states.length;
        if (changes > mostChanges) throw tooManyChanges(mostChanges);
        for (const state of states) tally.add(stretchOf(state, now));
      }
      availabilities.push({ routerId: router.id, timeZone, buckets: tally.finish() });
    }
    return availabilities;
  }

  /** The times in which a control plane ran. */
  async #knownTimes(span: Span, now: number): Promise<Span[]> {
    const runs = await selectRuns(this.#deps.storage.db, span);
    const times = runs.map(({ id, started_at: from, alive_at: alive, stopped_at: stopped }) => ({
      from,
      to: id === this.#deps.runs.currentId ? now : (stopped ?? alive),
    }));
    return union(times.toSorted((one, other) => one.from - other.from));
  }
}

/** The buckets in each zone that occurs. Days of one zone take a millisecond to find. */
async function cutInEach(
  routers: readonly PlacedRouter[],
  question: Question,
  now: number,
  most: number,
): Promise<Map<string, { timeZone: string; spans: Span[] }>> {
  const found = new Map<string, { timeZone: string; spans: Span[] }>();
  for (const timeZone of new Set(routers.map((router) => zoneFor(router, question)))) {
    if (found.size > 0) await nextTurn();
    found.set(timeZone, { timeZone, spans: cut(question, timeZone, now, most) });
  }
  return found;
}

function cut({ size, from, to }: Question, timeZone: string, now: number, most: number): Span[] {
  const end = Math.min(to ?? now, now);
  const span = { from: from ?? usualBeginning(end, size, timeZone), to: end };
  if (span.from >= span.to) throw invalidField('from', 'must be before `to` and before now');
  const spans = bucketsOf(span, size, timeZone, most);
  if (!spans) throw invalidField('bucket', `there are more than ${most} of this size between \`from\` and \`to\``);
  return spans;
}

function tooManyChanges(most: number) {
  return invalidField(
    'from',
    `more than ${most} changes of state lie between this and \`to\`: ask for a shorter time or for fewer routers`,
  );
}

function zoneFor(router: PlacedRouter, { timeZone }: Question): string {
  return timeZone ?? zoneOf(router);
}

/** A configured time zone takes precedence over the one that the router reports, which may be invalid. */
function zoneOf({ site_time_zone: ofSite, time_zone: own }: PlacedRouter): string {
  return ianaTimeZone(ofSite ?? '') ?? ianaTimeZone(own ?? '') ?? 'UTC';
}

function stretchOf({ state, since, until }: StateRow, now: number): Span & { share: Share } {
  const share = state === 'answering' || state === 'not_answering' || state === 'agent_away' ? state : 'unknown';
  return { from: since, to: until ?? now, share };
}
