import type net from 'node:net';
import type { Clock, Timer } from '../../../platform/core/clock.ts';
import { AppError } from '../../../platform/core/errors.ts';
import type { Source } from '../entry/entry-port.ts';
import type { LiveForward } from '../live-forward.ts';
import { LiveForwards } from '../live-forwards.ts';
import type { ClientStream, ConnectionAcceptor, EndedBy, ForwardRecord } from '../types.ts';
import type { OtherHomes } from './other-homes.ts';

/** A client that was let in must begin its connection within this time. */
const ENTER_WITHIN_MS = 10_000;
/** A door without a connection is closed after this time, with its channels. */
export const DOOR_RESTS_MS = 60_000;

export interface DoorsDeps {
  clock: Clock;
  homes: OtherHomes;
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
}

/** One client that the home of its forward has let in. Exactly one of these is called, or none: then its place is free again soon. */
export interface Entry extends ConnectionAcceptor {
  acceptFrom(socket: net.Socket, source: Source): boolean;
}

/**
 * Doors of this control plane to forwards whose home is another one, for clients that come by name or by WebSocket. The home lets each of them
 * in, and their bytes go from here to the agent.
 */
export class Doors {
  readonly #deps: DoorsDeps;
  readonly #lives = new LiveForwards();
  readonly #doors = new Map<string, Door>();
  /** Homes by forward whose number of connections has changed since it was told. */
  readonly #untold = new Map<string, string>();
  #telling: NodeJS.Immediate | undefined;

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

  /**
   * Asks the home for one more client.
   * @returns undefined when the forward has ended, or has another home now
   * @throws AppError `conflict` when it is full, `unavailable` when its home cannot be reached
   */
  async enter(record: ForwardRecord & { node_id: string }, agentId: string): Promise<Entry | undefined> {
    const door = this.#open(record, agentId);
    door.entering += 1;
    let answer;
    try {
      const key = { teamId: record.team_id, id: record.id };
      answer = await this.#deps.homes.enter(record.node_id, key, door.live.connectionCount + door.entering);
    } catch (error) {
      this.#leave(door);
      throw error;
    }
    if (answer === 'welcome' && !door.live.ended) return this.#entry(door);
    this.#leave(door);
    if (answer === 'full') throw new AppError('conflict', 'the forward has as many connections as it can carry');
    return undefined;
  }

  /** Cuts all connections of a forward here and closes its door. */
  async close(id: string, why: EndedBy): Promise<void> {
    const door = this.#doors.get(id);
    if (!door) return;
    this.#doors.delete(id);
    await door.live.end(why);
    this.#lives.delete(id);
  }

  /** Closes doors without connections, and tells the homes of the others how many there are: a new home does not know. */
  async look(): Promise<void> {
    const now = this.#deps.clock.monotonic();
    for (const [id, { live, home, entering, usedAt }] of this.#doors) {
      const count = live.connectionCount + entering;
      if (count > 0) this.#tell(id, home);
      else if (now - usedAt >= DOOR_RESTS_MS) await this.close(id, 'idle');
    }
  }

  async stop(): Promise<void> {
    clearImmediate(this.#telling);
    await Promise.all([...this.#doors.keys()].map((id) => this.close(id, 'shutdown')));
  }

  #open(record: ForwardRecord & { node_id: string }, agentId: string): Door {
    const usedAt = this.#deps.clock.monotonic();
    let door = this.#doors.get(record.id);
    if (!door) {
      const live = this.#deps.makeLive(record, () => {
        const own = this.#doors.get(record.id);
        if (own) this.#tell(record.id, own.home);
      });
      door = { live, home: record.node_id, entering: 0, usedAt };
      this.#doors.set(record.id, door);
      this.#lives.add(live);
      live.startExpiry();
    }
    door.live.assignAgent(agentId);
    door.home = record.node_id;
    door.usedAt = usedAt;
    return door;
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

  /** In one message for all that end in this turn of the event loop. */
  #tell(id: string, home: string): void {
    this.#untold.set(id, home);
    this.#telling ??= setImmediate(() => {
      this.#telling = undefined;
      for (const [to, changes] of Map.groupBy(this.#untold, ([, of]) => of)) {
        this.#deps.homes.counts(
          to,
          changes.map(([of]) => [of, this.#countOf(of)]),
        );
      }
      this.#untold.clear();
    });
  }

  #countOf(id: string): number {
    const door = this.#doors.get(id);
    return door ? door.live.connectionCount + door.entering : 0;
  }
}
