import { waitUntil } from '../wait-until.ts';
import { refusalOf } from './chaos-fleet.ts';
import type { ChaosFleet, ShownState } from './chaos-fleet.ts';
import { EventReader } from './event-reader.ts';

/** A state is stored within two seconds; on a busy machine later. One that began so shortly before a kill may be lost, milliseconds. */
export const STORED_WITHIN_MS = 10_000;

/** Events that are looked back at: those of some minutes. */
const REMEMBERED = 500;

/** A client as docs/api.md wants it: reads the list once and then the stream, and the list again when the stream has lost events. */
export class FollowedStates {
  readonly #fleet: ChaosFleet;
  readonly #states = new Map<string, ShownState>();
  /** What was told last, oldest first. */
  readonly #told: { routerId: string; state: ShownState; at: number }[] = [];
  readonly #reader: EventReader;
  readonly #complain: (what: string) => void;
  /** How many breaks the stream may have had so far. */
  #breaks: number;

  private constructor(fleet: ChaosFleet, position: string, complain: (what: string) => void) {
    this.#fleet = fleet;
    this.#complain = complain;
    this.#breaks = fleet.breaks;
    this.#reader = new EventReader(fleet, position, {
      onChange: (routerId, state) => {
        this.#states.set(routerId, state);
        this.#told.push({ routerId, state, at: performance.now() });
        if (this.#told.length > REMEMBERED) this.#told.shift();
      },
      onResync: () => this.#readAgain(),
    });
  }

  static async start(fleet: ChaosFleet, complain: (what: string) => void): Promise<FollowedStates> {
    const { states, position } = await readList(fleet);
    const followed = new FollowedStates(fleet, position, complain);
    followed.#load(states);
    return followed;
  }

  get events(): number {
    return this.#reader.count;
  }

  get(routerId: string): ShownState | undefined {
    return this.#states.get(routerId);
  }

  /** Whether a router was told to be in that state since a time of `performance.now`. */
  wasTold(routerId: string, { state, state_reason }: ShownState, from: number): boolean {
    return this.#told.some((told) => {
      const isIt = told.state.state === state && told.state.state_reason === state_reason;
      return isIt && told.routerId === routerId && told.at >= from;
    });
  }

  stop(): Promise<void> {
    return this.#reader.stop();
  }

  async #readAgain(): Promise<string> {
    if (this.#fleet.breaks === this.#breaks) this.#complain('the stream has lost events without a reason');
    this.#breaks = this.#fleet.breaks;
    const { states, position } = await waitUntil('the list is read again', () => readList(this.#fleet).catch(() => undefined));
    this.#load(states);
    return position;
  }

  #load(states: ReadonlyMap<string, ShownState>): void {
    for (const [routerId, state] of states) this.#states.set(routerId, state);
  }
}

/**
 * The last state of each router that was published, whatever the list says. After a kill it reads everything that the new run has published: a
 * start that finds a router in another state than the one before must say so.
 */
export class PublishedStates {
  readonly #fleet: ChaosFleet;
  readonly #states = new Map<string, ShownState & { at: number }>();
  #lastKill = Number.NEGATIVE_INFINITY;
  readonly #reader: EventReader;

  private constructor(fleet: ChaosFleet, position: string) {
    this.#fleet = fleet;
    this.#reader = new EventReader(fleet, position, {
      onChange: (routerId, state) => this.#states.set(routerId, { ...state, at: performance.now() }),
      onResync: async (now) => this.#beginOfRun(now),
    });
  }

  static async start(fleet: ChaosFleet): Promise<PublishedStates> {
    const { states, position } = await readList(fleet);
    const published = new PublishedStates(fleet, position);
    for (const [routerId, state] of states) published.#states.set(routerId, { ...state, at: performance.now() });
    return published;
  }

  /** Undefined while it cannot be known: it may have been published shortly before a kill, and lost. */
  get(routerId: string): ShownState | undefined {
    return this.#states.get(routerId);
  }

  stop(): Promise<void> {
    return this.#reader.stop();
  }

  /** Positions are `<run>.<number>` (server/outbound/events/ring.ts). */
  #beginOfRun(position: string): string {
    const { killedAt } = this.#fleet;
    // The clock was set: nothing is lost.
    if (killedAt === this.#lastKill) return position;
    this.#lastKill = killedAt;
    for (const [routerId, { at }] of this.#states) if (at > killedAt - STORED_WITHIN_MS) this.#states.delete(routerId);
    return position.replace(/\d+$/, '0');
  }
}

/** @throws Error as `ChaosFleet.read` does */
export async function readList(fleet: ChaosFleet): Promise<{ states: Map<string, ShownState>; position: string }> {
  const { status, body, position } = await fleet.get<{ data: (ShownState & { id: string })[] }>('/api/routers');
  if (status !== 200 || position === null) throw refusalOf('/api/routers', status, body);
  return { states: new Map(body.data.map((router) => [router.id, stateOf(router)])), position };
}

export function stateOf({ state, state_since, state_reason }: ShownState): ShownState {
  return { state, state_since, state_reason };
}
