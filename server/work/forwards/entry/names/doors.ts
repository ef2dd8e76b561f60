import { EntryPort, breakOff } from '../entry-port.ts';
import { listenOnFreePort } from '../../creation.ts';
import type { CreationDeps } from '../../creation.ts';
import type { Listeners } from '../../../../platform/core/listeners.ts';
import type { Log } from '../../../../platform/core/log.ts';
import type { LiveForward } from '../../live-forward.ts';
import { markNoPort } from '../../store.ts';
import type { ForwardChange, ForwardRecord } from '../../types.ts';
import { cannotListen, whyNoPort } from '../listen-errors.ts';
import { NameDoor } from './name-door.ts';
import { WaitingRoom } from './waiting-room.ts';

export interface DoorsDeps extends CreationDeps {
  log: Log;
  changes: Pick<Listeners<ForwardChange>, 'publish'>;
  /** Asks the agent again, as work that has an owner. */
  reopen: (live: LiveForward) => void;
  /** Gives work an owner that waits for it at the end. */
  track: (work: Promise<void>) => void;
}

/** The public side of all forwards: a port for each, and where it is configured one port for all by name. */
export class Doors {
  readonly #deps: DoorsDeps;
  readonly #room: WaitingRoom;
  #nameDoor: NameDoor | undefined;

  constructor(deps: DoorsDeps) {
    this.#deps = deps;
    const { clock, limits } = deps;
    this.#room = new WaitingRoom({ clock, capacity: limits.waitingClients, timeoutMs: limits.clientSpeaksMs });
  }

  /** Call it first. @throws AppError naming the setting, when its address is none of this machine */
  async check(): Promise<void> {
    const { listen } = this.#deps.settings;
    try {
      const anyPort = await EntryPort.listen({ host: listen, port: 0, room: this.#room, onArrival: breakOff, onNameless: () => undefined });
      anyPort.close();
    } catch (error) {
      throw cannotListen(`SIGNALBOX_FORWARD_LISTEN: ${listen} cannot be listened on`, error);
    }
  }

  /** Opens the door by name, if there is to be one. @throws AppError naming the setting, when its port cannot be had */
  async start(find: (forwardId: string) => LiveForward | undefined): Promise<void> {
    const { settings, clock, log, limits } = this.#deps;
    if (!settings.names) return;
    const { domain, listen } = settings.names;
    const options = { ...listen, domain, isProxy: settings.isProxy, room: this.#room, find, clock, log, logEveryMs: limits.flushMs };
    try {
      this.#nameDoor = await NameDoor.open(options);
    } catch (error) {
      throw cannotListen(`SIGNALBOX_FORWARD_NAME_LISTEN: ${listen.host}:${listen.port} cannot be listened on`, error);
    }
  }

  /** Lets nobody in any more. The ports of the forwards are closed with these. */
  stop(): void {
    this.#nameDoor?.close();
    this.#room.close();
  }

  /** Name and port by which a TLS client reaches a forward; undefined without the door by name. */
  nameOf(forwardId: string): { name: string; port: number } | undefined {
    const { names } = this.#deps.settings;
    if (!names || !this.#nameDoor) return undefined;
    return { name: `${forwardId}.${names.domain}`, port: names.publicPort ?? this.#nameDoor.port };
  }

  /**
   * Opens the port of a new forward, or moves it to another when some other program holds its own. @returns the port
   * @throws AppError `unavailable`
   */
  async open(live: LiveForward, record: ForwardRecord): Promise<number> {
    return listenOnFreePort(this.#deps, record, (port) => this.#listen(live, port));
  }

  /**
   * After a restart the port stays the same: people have written it down. If it is taken, the record says so, and it is
   * tried again until the end. @throws a storage error
   */
  async reopen(live: LiveForward, record: ForwardRecord): Promise<void> {
    const { limits, track, reopen } = this.#deps;
    try {
      await this.#listen(live, record.port);
    } catch (error) {
      if (live.ended) return;
      live.retryListeningIn(limits.retryMs, () => track(this.reopen(live, record)));
      await this.#notePortLost(live, record.port, error);
      return;
    }
    if (live.notePort(undefined)) reopen(live);
  }

  /** Once, not at every attempt. */
  async #notePortLost(live: LiveForward, port: number, error: unknown): Promise<void> {
    const { storage, log, changes } = this.#deps;
    const reason = whyNoPort(port, error);
    if (!live.notePort(reason)) return;
    log.error({ err: error, forward_id: live.id, port }, 'the port of a forward is taken; trying again');
    const lost = await storage.writes.write((tx) => markNoPort(tx, { teamId: live.teamId, id: live.id }, reason));
    if (lost) changes.publish({ kind: 'lost', forward: lost });
  }

  async #listen(live: LiveForward, port: number): Promise<void> {
    const { settings } = this.#deps;
    const entry = await EntryPort.listen({
      host: settings.listen,
      port,
      isProxy: settings.isProxy,
      room: this.#room,
      teamId: live.teamId,
      onArrival: (socket, source) => live.arrive(socket, source),
      onNameless: (address) => live.refused(address),
    });
    live.ownPort(entry);
  }
}
