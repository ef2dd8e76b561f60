import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { waitUntil } from '../wait-until.ts';
import { WrongAnswer } from './chaos-fleet.ts';
import type { ChaosFleet, ShownState } from './chaos-fleet.ts';
import type { Truth } from './disturber.ts';
import { FollowedStates, PublishedStates, readList, stateOf } from './told-states.ts';

type States = ReadonlyMap<string, ShownState>;

type FoundState = Omit<ShownState, 'state_reason'>;

interface Fault {
  rid: string;
  type: string;
}

/** A state that was seen for so long has become a fault, milliseconds. */
const LASTING_MS = 30_000;
/** Between two comparisons, milliseconds. */
const SAMPLE_EVERY_MS = 200;
/** An event is written when the state changes, and read soon after; a fault is stored a moment later. Milliseconds. */
const TOLD_WITHIN_MS = 5000;
/** An agent dials again after up to a minute, when it was refused often. Milliseconds. */
const CALM_MS = 300_000;
/** Compares what list, detail, overview, search, event stream and faults say of the routers. */
export class Observer {
  /** What two of them said at the same time, and answers that nobody expects. */
  readonly contradictions: string[] = [];
  comparisons = 0;
  readonly #fleet: ChaosFleet;
  #followed!: FollowedStates;
  #published!: PublishedStates;
  /** Since when each router was seen in its state without a break, by `performance.now`. */
  readonly #lasting = new Map<string, { state: string; from: number }>();
  #isStopping = false;
  #running: Promise<void> = Promise.resolve();

  private constructor(fleet: ChaosFleet) {
    this.#fleet = fleet;
  }

  static async start(fleet: ChaosFleet): Promise<Observer> {
    const observer = new Observer(fleet);
    observer.#followed = await FollowedStates.start(fleet, (what) => observer.#contradict(what));
    observer.#published = await PublishedStates.start(fleet);
    observer.#running = observer.#sample();
    return observer;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
    await Promise.all([this.#followed.stop(), this.#published.stop()]);
  }

  report(): string {
    return `${this.comparisons} comparisons, ${this.#followed.events} events, ${this.contradictions.length} contradictions`;
  }

  /** While everything holds still: all of them say what the test knows, and the history has one present state of each router. */
  async expectTruth(truths: readonly Truth[]): Promise<void> {
    for (const { router, state, reason } of truths)
      await waitUntil(
        `${router.name} is ${state}, ${reason ?? 'for any reason'}`,
        async () => {
          const shown = (await readList(this.#fleet).catch(() => undefined))?.states.get(router.id);
          return shown?.state === state && (reason === undefined || shown.state_reason === reason);
        },
        CALM_MS,
      );
    const states = await waitUntil('nothing changes while everything is read', () => this.#readStill(), CALM_MS);
    for (const [routerId, shown] of states) {
      await waitUntil(`the events end with ${JSON.stringify(shown)}`, () => isSame(this.#followed.get(routerId), shown), TOLD_WITHIN_MS);
      await this.#expectHistory(routerId, shown);
    }
  }

  /** A clock that was set just before all stands still moves the times once more. @returns undefined if something did */
  async #readStill(): Promise<States | undefined> {
    const { states: before } = await readList(this.#fleet);
    const details = new Map<string, ShownState>();
    for (const routerId of before.keys()) details.set(routerId, await this.#detail(routerId));
    const [found, counts] = [await this.#found(), await this.#overview()];
    const { states: after } = await readList(this.#fleet);
    if (!areSame(before, after)) return undefined;
    expect(details).toEqual(after);
    expect(found).toEqual(new Map([...after].map(([id, { state, state_since }]) => [id, { state, state_since }])));
    expect(counts).toEqual(countsOf(after));
    return after;
  }

  /** A router that changed its state too often has no record of each. Past states keep their times when the clock is set back. */
  async #expectHistory(routerId: string, { state }: ShownState): Promise<void> {
    const items = await this.#fleet.read<{ status: string; until: string | null }[]>(
      `/api/routers/${routerId}/history?kind=state&limit=1000`,
    );
    expect(items.filter(({ until }) => until === null)).toMatchObject([{ status: state }]);
  }

  async #sample(): Promise<void> {
    while (!this.#isStopping) {
      await this.#compare().catch((error: unknown) => this.#onFailure(error));
      await sleep(SAMPLE_EVERY_MS);
    }
  }

  /** A control plane that is not there answers nothing, and nothing is known of how long a state lasts. */
  #onFailure(error: unknown): void {
    this.#lasting.clear();
    if (error instanceof WrongAnswer) this.#contradict(error.message);
  }

  /** What is read between two equal lists has to be equal to them, unless an event says what it was in between. */
  async #compare(): Promise<void> {
    const from = performance.now();
    const { states: before } = await readList(this.#fleet);
    const details = new Map<string, ShownState>();
    for (const routerId of before.keys()) details.set(routerId, await this.#detail(routerId));
    const found = await this.#found();
    const counts = await this.#overview();
    const { states: after } = await readList(this.#fleet);
    this.#noteLasting(after);
    for (const [routerId, state] of before) {
      if (!isSame(state, after.get(routerId))) continue;
      this.comparisons += 1;
      const detail = details.get(routerId)!;
      // Within one state the reason may change and change back.
      const isToldWithin = () => isSame(state, detail) || this.#followed.wasTold(routerId, detail, from);
      if (!(await waitUntil('it is told', isToldWithin, TOLD_WITHIN_MS).catch(() => false))) this.#contradictBy(state, 'detail', detail);
      const match = { ...found.get(routerId)!, state_reason: state.state_reason };
      if (!isSame(state, match)) this.#contradictBy(state, 'search', match);
    }
    if (!areSame(before, after)) return;
    if (JSON.stringify(counts) !== JSON.stringify(countsOf(before)))
      this.#contradict(`list ${JSON.stringify(countsOf(before))}, overview ${JSON.stringify(counts)}`);
    await this.#becomesTrue(after, async () => wrongFaults(after, this.#lasting, await this.#openFaults()));
    await this.#becomesTrue(after, async () => this.#wrongEvents(after));
  }

  #contradictBy(listed: ShownState, name: string, shown: ShownState): void {
    this.#contradict(`list ${JSON.stringify(listed)}, ${name} ${JSON.stringify(shown)}`);
  }

  /** What follows the states needs some time; if they change meanwhile, nothing can be said. @param wrong what is wrong, if anything is */
  async #becomesTrue(shown: States, wrong: () => Promise<string | undefined>): Promise<void> {
    const end = performance.now() + TOLD_WITHIN_MS;
    for (;;) {
      const what = await wrong();
      if (what === undefined) break;
      const { states } = await readList(this.#fleet);
      if (this.#isStopping || !areSame(shown, states)) return;
      if (performance.now() > end) {
        this.#contradict(what);
        return;
      }
      await sleep(20);
    }
    this.comparisons += 1;
  }

  /** Published states have other times after the clock was set. */
  #wrongEvents(shown: States): string | undefined {
    for (const [routerId, listed] of shown) {
      const followed = this.#followed.get(routerId);
      if (!isSame(listed, followed)) return `list ${JSON.stringify(listed)}, followed events ${JSON.stringify(followed)}`;
      const published = this.#published.get(routerId);
      if (published && (published.state !== listed.state || published.state_reason !== listed.state_reason))
        return `list ${JSON.stringify(listed)}, last published ${JSON.stringify(published)}`;
    }
    return undefined;
  }

  #noteLasting(shown: States): void {
    for (const [routerId, { state }] of shown)
      if (this.#lasting.get(routerId)?.state !== state) this.#lasting.set(routerId, { state, from: performance.now() });
  }

  #contradict(what: string): void {
    this.contradictions.push(`${new Date().toISOString()} ${what}`);
  }

  async #detail(routerId: string): Promise<ShownState> {
    return stateOf(await this.#fleet.read<ShownState>(`/api/routers/${routerId}`));
  }

  /** What a search finds has no reason. */
  async #found(): Promise<Map<string, FoundState>> {
    const matches = await this.#fleet.read<(FoundState & { id: string; kind: string })[]>('/api/search?q=chaos-');
    const routers = matches.filter(({ kind }) => kind === 'router');
    return new Map(routers.map(({ id, state, state_since }) => [id, { state, state_since }]));
  }

  async #overview(): Promise<Record<string, number>> {
    return (await this.#fleet.read<{ routers: Record<string, number> }>('/api/overview')).routers;
  }

  #openFaults(): Promise<Fault[]> {
    return this.#fleet.read<Fault[]>('/api/faults?status=open&limit=200');
  }
}

const FAULT_OF: Record<string, string> = { not_answering: 'router_offline', agent_away: 'agent_offline' };
const FAULTS_AGAINST: Record<string, string[]> = { answering: ['router_offline', 'agent_offline'], not_answering: ['agent_offline'] };

/** What contradicts the states, if anything does. A router that was offline stays so while its agent is away. */
function wrongFaults(
  shown: States,
  lasting: ReadonlyMap<string, { state: string; from: number }>,
  faults: readonly Fault[],
): string | undefined {
  for (const [id, state] of shown) {
    const types = faults.filter(({ rid }) => rid === id).map(({ type }) => type);
    const isLasting = performance.now() - (lasting.get(id)?.from ?? Number.POSITIVE_INFINITY) > LASTING_MS;
    const must = isLasting ? FAULT_OF[state.state] : undefined;
    if (types.some((type) => FAULTS_AGAINST[state.state]?.includes(type)) || (must !== undefined && !types.includes(must)))
      return `list ${JSON.stringify(state)}, open faults ${JSON.stringify(types)}`;
  }
  return undefined;
}

function isSame(one: ShownState | undefined, other: ShownState | undefined): boolean {
  return one?.state === other?.state && one?.state_since === other?.state_since && one?.state_reason === other?.state_reason;
}

function areSame(one: States, other: States): boolean {
  return one.size === other.size && [...one].every(([id, state]) => isSame(state, other.get(id)));
}

function countsOf(states: States): Record<string, number> {
  const counts: Record<string, number> = { answering: 0, not_answering: 0, agent_away: 0, never_seen: 0 };
  for (const { state } of states.values()) counts[state]! += 1;
  return counts;
}
