import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ShownState, Stand } from '../stand.ts';
import { waitUntil } from '../wait-until.ts';
import type { World } from '../world.ts';
import type { Truth } from './disturber.ts';

interface Fault {
  rid: string;
  type: string;
}

/** A state that has lasted so long has become a fault, also if the control plane was restarted soon after it began. */
const LASTING_MS = 30_000;

type State = Pick<ShownState, 'state' | 'state_since' | 'state_reason'>;

/** Between two comparisons. */
const SAMPLE_EVERY_MS = 200;
/** An event is written when the state changes, and read soon after. */
const EVENT_WITHIN_MS = 5000;

/** Compares what list, detail, overview, event stream and faults say of the routers. */
export class Observer {
  /** What two of them said at the same time. */
  readonly contradictions: string[] = [];
  comparisons = 0;
  readonly #world: World;
  readonly #stands: readonly Stand[];
  readonly #told = new Map<string, State>();
  #events = 0;
  #lastEventId = '';
  #isStopping = false;
  #abort = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(world: World, stands: readonly Stand[]) {
    this.#world = world;
    this.#stands = stands;
  }

  async start(): Promise<void> {
    const { body, headers } = await this.#world.caller.call<{ data: ShownState[] }>('GET', '/api/routers');
    this.#lastEventId = headers.get('x-event-id')!;
    for (const shown of body.data) this.#told.set(shown.id, stateOf(shown));
    this.#running = Promise.all([this.#follow(), this.#sample()]);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#abort.abort();
    await this.#running;
  }

  report(): string {
    return `${this.comparisons} comparisons, ${this.#events} events, ${this.contradictions.length} contradictions`;
  }

  /** While everything holds still: all four say what the test knows. */
  async expectTruth(truths: readonly Truth[]): Promise<void> {
    const list = await this.#list();
    for (const { stand, state, reason } of truths) {
      const shown = list.get(stand.routerId);
      expect(shown?.state, stand.name).toBe(state);
      if (reason !== undefined) expect(shown?.state_reason, stand.name).toBe(reason);
      expect(stateOf(await stand.read()), stand.name).toEqual(shown);
      await waitUntil(`the events end with ${JSON.stringify(shown)}`, () => isSame(this.#told.get(stand.routerId), shown), EVENT_WITHIN_MS);
    }
    expect(await this.#overview()).toEqual(countsOf(list));
  }

  async #sample(): Promise<void> {
    while (!this.#isStopping) {
      // A control plane that restarts answers nothing.
      await this.#compare().catch(() => undefined);
      await sleep(SAMPLE_EVERY_MS);
    }
  }

  /** What is read between two equal lists has to be equal to them. */
  async #compare(): Promise<void> {
    const before = await this.#list();
    const details = await Promise.all(this.#stands.map((stand) => stand.read()));
    const counts = await this.#overview();
    const after = await this.#list();
    const isQuiet = [...before].every(([id, state]) => isSame(state, after.get(id)));
    for (const detail of details) {
      const [one, other] = [before.get(detail.id), after.get(detail.id)];
      if (!isSame(one, other)) continue;
      this.comparisons += 1;
      if (!isSame(one, stateOf(detail))) this.#contradict(`list ${JSON.stringify(one)}, detail ${JSON.stringify(stateOf(detail))}`);
    }
    if (isQuiet && JSON.stringify(counts) !== JSON.stringify(countsOf(before)))
      this.#contradict(`list ${JSON.stringify(countsOf(before))}, overview ${JSON.stringify(counts)}`);
    if (isQuiet) await this.#compareFaults(after);
    if (isQuiet) await this.#compareEvents(after);
  }

  /** The events have some time to come; if the state changes meanwhile, nothing can be said. */
  async #compareEvents(shown: Map<string, State>): Promise<void> {
    const isTold = (): boolean => [...shown].every(([id, state]) => isSame(state, this.#told.get(id)));
    const end = performance.now() + EVENT_WITHIN_MS;
    while (!isTold()) {
      const now = await this.#list();
      if (this.#isStopping || [...shown].some(([id, state]) => !isSame(state, now.get(id)))) return;
      if (performance.now() > end) {
        const told = Object.fromEntries(this.#told);
        this.#contradict(`list ${JSON.stringify(Object.fromEntries(shown))}, events ${JSON.stringify(told)}`);
        return;
      }
      await sleep(20);
    }
    this.comparisons += 1;
  }

  /** Faults are stored a moment after the state changed; if it changes again meanwhile, nothing can be said. */
  async #compareFaults(shown: Map<string, State>): Promise<void> {
    const end = performance.now() + EVENT_WITHIN_MS;
    for (;;) {
      const wrong = wrongFaults(shown, await this.#openFaults());
      if (wrong === undefined) break;
      const now = await this.#list();
      if (this.#isStopping || [...shown].some(([id, state]) => !isSame(state, now.get(id)))) return;
      if (performance.now() > end) {
        this.#contradict(wrong);
        return;
      }
      await sleep(50);
    }
    this.comparisons += 1;
  }

  async #openFaults(): Promise<Fault[]> {
    const { status, body } = await this.#world.caller.call<{ data: Fault[] }>('GET', '/api/faults?status=open&limit=200');
    if (status !== 200) throw new Error(`the faults answer ${status}`);
    return body.data;
  }

  #contradict(what: string): void {
    this.contradictions.push(`${new Date().toISOString()} ${what}`);
  }

  async #list(): Promise<Map<string, State>> {
    const { status, body } = await this.#world.caller.call<{ data: ShownState[] }>('GET', '/api/routers');
    if (status !== 200) throw new Error(`the list answers ${status}`);
    return new Map(body.data.map((shown) => [shown.id, stateOf(shown)]));
  }

  async #overview(): Promise<Record<string, number>> {
    const { status, body } = await this.#world.caller.call<{ data: { routers: Record<string, number> } }>('GET', '/api/overview');
    if (status !== 200) throw new Error(`the overview answers ${status}`);
    return body.data.routers;
  }

  /** Reads the stream, and goes on behind the last event after every break. */
  async #follow(): Promise<void> {
    while (!this.#isStopping) {
      await this.#readStream().catch(() => undefined);
      if (!this.#isStopping) await sleep(50);
    }
  }

  async #readStream(): Promise<void> {
    const { server, caller } = this.#world;
    const stream = await fetch(`${server.url}/api/events`, {
      headers: { authorization: `Bearer ${caller.apiKey}`, 'last-event-id': this.#lastEventId },
      signal: this.#abort.signal,
    });
    if (!stream.ok || !stream.body) return;
    let text = '';
    for await (const chunk of stream.body) {
      text += Buffer.from(chunk).toString();
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        this.#take(text.slice(0, end));
        text = text.slice(end + 2);
      }
    }
  }

  #take(block: string): void {
    const field = (name: string): string | undefined => new RegExp(`^${name}: (.+)$`, 'm').exec(block)?.[1];
    const [id, type, data] = [field('id'), field('event'), field('data')];
    if (id !== undefined) this.#lastEventId = id;
    if (type === 'resync') this.#contradict('the stream has lost events');
    if (type !== 'router.changed' || data === undefined) return;
    this.#events += 1;
    const shown = JSON.parse(data) as State & { router_id: string };
    this.#told.set(shown.router_id, stateOf(shown));
  }
}

const FAULT_OF: Record<string, string> = { not_answering: 'router_offline', agent_away: 'agent_offline' };

/** What contradicts the states, if anything does. A router that was offline stays so while its agent is away. */
function wrongFaults(shown: ReadonlyMap<string, State>, faults: readonly Fault[]): string | undefined {
  for (const [id, state] of shown) {
    const types = faults.filter(({ rid }) => rid === id).map(({ type }) => type);
    const mayNot =
      state.state === 'answering' ? ['router_offline', 'agent_offline'] : state.state === 'not_answering' ? ['agent_offline'] : [];
    const must = Date.now() - Date.parse(state.state_since) > LASTING_MS ? FAULT_OF[state.state] : undefined;
    if (types.some((type) => mayNot.includes(type)) || (must !== undefined && !types.includes(must)))
      return `list ${JSON.stringify(state)}, open faults ${JSON.stringify(types)}`;
  }
  return undefined;
}

function stateOf({ state, state_since, state_reason }: State): State {
  return { state, state_since, state_reason };
}

function isSame(one: State | undefined, other: State | undefined): boolean {
  return one?.state === other?.state && one?.state_since === other?.state_since && one?.state_reason === other?.state_reason;
}

function countsOf(list: Map<string, State>): Record<string, number> {
  const counts: Record<string, number> = { answering: 0, not_answering: 0, agent_away: 0, never_seen: 0 };
  for (const { state } of list.values()) counts[state]! += 1;
  return counts;
}
