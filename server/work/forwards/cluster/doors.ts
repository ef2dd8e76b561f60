import type net from 'node:net';
import type { Clock, Timer } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import type { Source } from '../entry/entry-port.ts';
import type { LiveForward, LiveTerms } from '../live-forward.ts';
import { LiveForwards } from '../live-forwards.ts';
import type { ClientStream, ConnectionAcceptor, EndedBy, ForwardRecord } from '../types.ts';
import type { DoorCount, OtherHomes } from './other-homes.ts';

/** A client that was let in must begin its connection within this time. */
const ENTER_WITHIN_MS = 10_000;
/** A door without a connection is closed after this time, with its channels. */
export const DOOR_RESTS_MS = 60_000;
/**
 * The home was asked for each client, which took a third of the time of a new connection. Now a door keeps places for so long when clients
 * go, as many as its home can spare, and fills them without asking: it asks once a second. The forward is still read for each client.
 */
const KEEPS_MS = 1000;
/** Its home counts the places that a door keeps: how many connections have them is told at leisure. */
const TELLS_KEPT_MS = 100;

export interface DoorsDeps {
  clock: Clock;
  homes: Pick<OtherHomes, 'enter' | 'counts'>;
  /** Makes a live forward whose channels are dialled to this control plane. `closed` is called whenever one of its connections is over. */
  makeLive: (record: ForwardRecord, closed: () => void) => LiveForward;
}

interface Door {
  live: LiveForward;
  home: string;
  /** Clients that the home was asked for, and that have no connection yet. */
  entering: number;
  /** Monotonic time of the last client. */
  usedAt: number;
  /** How many clients it may have without asking its home, while the timer runs. */
  kept: number;
  /** How many of these may be without a connection when its home is told. */
  spare: number;
  keeping: Timer | undefined;
  /** How often its home was told its figures: what the home answers to an earlier question does not hold after that. */
  told: number;
}

/** One client that the home of its forward has let in. Exactly one of these is called, or none: then its place is free again soon. */
export interface Entry extends ConnectionAcceptor {
  acceptFrom(socket: net.Socket, source: Source): boolean;
}

/**
 * Doors of this control plane to forwards whose home is another one, for clients that come by name or by WebSocket. The home lets them in, one
 * by one or on places that a door keeps for a moment, and their bytes go from here to the agent.
 */
export class Doors {
  readonly #deps: DoorsDeps;
  readonly #lives = new LiveForwards();
  readonly #doors = new Map<string, Door>();
  /** Forwards by home whose number of connections has changed since it was told. Of a forward that moves, the former home is one, too. */
  readonly #untold = new Map<string, Set<string>>();
  #telling: NodeJS.Immediate | undefined;
  #tellingLater: Timer | undefined;

  constructor(deps: DoorsDeps) {
    this.#deps = deps;
  }

  get(id: string): LiveForward | undefined {
    return this.#lives.get(id);
  }

  all(): LiveForward[] {
    return this.#lives.all();
  }

  ofAgent(agentId: string): LiveForward[] {
    return this.#lives.ofAgent(agentId);
  }

  agentChanged(live: LiveForward, former: string): void {
    this.#lives.agentChanged(live, former);
  }

  /** Lets a client in on a place that the door keeps; undefined when it keeps none. */
  enterKept(record: ForwardRecord & { node_id: string }): Entry | undefined {
    const door = this.#doors.get(record.id);
    if (!door || door.home !== record.node_id || door.live.ended) return undefined;
    if (door.live.connectionCount + door.entering >= door.kept) return undefined;
    door.entering += 1;
    this.#tell(record.id, door.home);
    return this.#entry(door);
  }

  /**
   * Asks the home for one more client.
   * @returns undefined when the forward has ended, or has another home now
   * @throws AppError `conflict` when it is full, `unavailable` when its home cannot be reached
   */
  async enter(record: ForwardRecord & { node_id: string }, agentId: string): Promise<Entry | undefined> {
    const door = this.#open(record, agentId);
    // A client may have gone while the agent was looked up. The home must not be asked for fewer places than it counts.
    const kept = this.enterKept(record);
    if (kept) return kept;
    door.entering += 1;
    const { told } = door;
    const open = door.live.connectionCount + door.entering;
    let entered;
    try {
      entered = await this.#deps.homes.enter(record.node_id, { teamId: record.team_id, id: record.id }, open);
    } catch (error) {
      this.#leave(door);
      throw error;
    }
    if (entered.answer === 'welcome' && !door.live.ended) {
      if (entered.spare > 0 && door.home === record.node_id && door.told === told) this.#keep(door, open, entered.spare);
      return this.#entry(door);
    }
    this.#leave(door);
    if (entered.answer === 'full') throw new AppError('conflict', 'the forward has as many connections as it can carry');
    return undefined;
  }

  /** Cuts all connections of a forward here and closes its door. */
  async close(id: string, why: EndedBy): Promise<void> {
    const door = this.#doors.get(id);
    if (!door) return;
    this.#doors.delete(id);
    door.keeping?.cancel();
    await door.live.end(why);
    // Unless a client has opened it again meanwhile.
    if (this.#lives.get(id) === door.live) this.#lives.delete(id);
    this.#tell(id, door.home);
  }

  /** A door keeps no place under terms of which its home has not told it. */
  applyTerms(live: LiveForward, terms: LiveTerms): void {
    live.applyTerms(terms);
    const door = this.#doors.get(live.id);
    if (door) this.#keepNone(door);
  }

  /** What its record says. A door keeps no place of a former home, and a new one does not know of its connections. */
  homeIs(id: string, home: string): void {
    const door = this.#doors.get(id);
    if (!door || door.home === home) return;
    this.#keepNone(door);
    door.home = home;
    this.#tell(id, home);
  }

  /** Closes doors without connections, and tells the homes of the others how many there are: it may not have been heard. */
  async look(): Promise<void> {
    const now = this.#deps.clock.monotonic();
    for (const [id, { live, home, entering, usedAt }] of this.#doors) {
      const count = live.connectionCount + entering;
      if (count > 0) this.#tell(id, home);
      else if (now - usedAt >= DOOR_RESTS_MS) await this.close(id, 'idle');
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#doors.keys()].map((id) => this.close(id, 'shutdown')));
    // The others know that this control plane is gone.
    this.#tellNothing();
  }

  #open(record: ForwardRecord & { node_id: string }, agentId: string): Door {
    const usedAt = this.#deps.clock.monotonic();
    let door = this.#doors.get(record.id);
    const former = door?.live.agentId ?? '';
    if (former !== '' && former !== agentId) {
      // Its channels and its token must carry nothing that is meant for the router's agent of now.
      void this.close(record.id, 'channel');
      door = undefined;
    }
    if (!door) {
      const live = this.#deps.makeLive(record, () => {
        const own = this.#doors.get(record.id);
        if (own) this.#tell(record.id, own.home);
      });
      door = { live, home: record.node_id, entering: 0, usedAt, kept: 0, spare: 0, keeping: undefined, told: 0 };
      this.#doors.set(record.id, door);
      this.#lives.add(live);
      live.startExpiry();
    }
    door.live.assignAgent(agentId);
    this.homeIs(record.id, record.node_id);
    door.usedAt = usedAt;
    return door;
  }

  /** Only the first welcome starts the time: the home is asked again after it, however many clients come. */
  #keep(door: Door, places: number, spare: number): void {
    door.kept = Math.max(door.kept, places);
    door.spare = spare;
    door.keeping ??= this.#deps.clock.setTimeout(() => this.#keepNone(door), KEEPS_MS);
  }

  #keepNone(door: Door): void {
    if (!door.keeping) return;
    door.keeping.cancel();
    door.keeping = undefined;
    const isFewer = door.kept > door.live.connectionCount + door.entering;
    door.kept = 0;
    if (isFewer) this.#tell(door.live.id, door.home);
  }

  #entry(door: Door): Entry {
    const { live } = door;
    let isTaken = false;
    const take = (): void => {
      if (isTaken) return;
      isTaken = true;
      timer.cancel();
      this.#leave(door);
    };
    const timer: Timer = this.#deps.clock.setTimeout(take, ENTER_WITHIN_MS);
    return {
      accept: (stream: ClientStream, source, ended) => {
        const cut = live.accept(stream, source, ended);
        take();
        return cut;
      },
      acceptFrom: (socket, source) => {
        const isAllowed = live.acceptFrom(socket, source);
        take();
        return isAllowed;
      },
    };
  }

  #leave(door: Door): void {
    door.entering -= 1;
    door.usedAt = this.#deps.clock.monotonic();
    this.#tell(door.live.id, door.home);
  }

  /** In one message for all that change in this turn of the event loop, or a little later. */
  #tell(id: string, home: string): void {
    const ids = this.#untold.get(home) ?? new Set();
    this.#untold.set(home, ids.add(id));
    const isUrgent = this.#doors.get(id)?.keeping === undefined;
    if (isUrgent) this.#telling ??= setImmediate(() => this.#tellAll());
    else this.#tellingLater ??= this.#deps.clock.setTimeout(() => this.#tellAll(), TELLS_KEPT_MS);
  }

  #tellAll(): void {
    this.#tellNothing();
    for (const [home, ids] of this.#untold) {
      this.#deps.homes.counts(
        home,
        [...ids].map((id) => this.#countFor(home, id)),
      );
    }
    this.#untold.clear();
  }

  #tellNothing(): void {
    clearImmediate(this.#telling);
    this.#telling = undefined;
    this.#tellingLater?.cancel();
    this.#tellingLater = undefined;
  }

  /** What this home is told now. */
  #countFor(home: string, id: string): DoorCount {
    const door = this.#doors.get(id);
    const open = door ? door.live.connectionCount + door.entering : 0;
    // A former home is told that no place of it is kept.
    if (door?.home !== home) return { id, open, kept: 0 };
    door.told += 1;
    // Many clients may have gone together: others need their places.
    door.kept = Math.min(door.kept, open + door.spare);
    return { id, open, kept: door.kept };
  }
}
