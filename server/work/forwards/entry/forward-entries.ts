import { EntryPort, resetSocket } from './entry-port.ts';
import { listenOnFreePort, listenSomewhere } from '../creation.ts';
import type { CreationDeps } from '../creation.ts';
import { AppError } from '../../../platform/core/errors.ts';
import type { Listeners } from '../../../platform/core/listeners.ts';
import type { Log } from '../../../platform/core/log.ts';
import type { LiveForward } from '../live-forward.ts';
import { losePort } from '../transitions.ts';
import type { ForwardChange, ForwardRecord } from '../types.ts';
import { cannotListen, portProblemText } from './listen-errors.ts';
import { TlsNameEntry } from './names/tls-name-entry.ts';
import type { TlsNameEntryOptions } from './names/tls-name-entry.ts';
import { PendingConnections } from './names/pending-connections.ts';

export interface ForwardEntriesDeps extends CreationDeps {
  log: Log;
  changes: Pick<Listeners<ForwardChange>, 'publish'>;
  /** Asks the agent to open the forward again, as a tracked task. */
  reopen: (live: LiveForward) => void;
  /** Tracks work so that the service's `stop` waits for it. */
  track: (work: Promise<void>) => void;
}

/** The public side of all forwards: a port for each, and one TLS port for all of them by server name where configured. */
export class ForwardEntries {
  readonly #deps: ForwardEntriesDeps;
  readonly #pending: PendingConnections;
  #nameEntry: TlsNameEntry | undefined;

  constructor(deps: ForwardEntriesDeps) {
    this.#deps = deps;
    const { clock, limits } = deps;
    this.#pending = new PendingConnections({ clock, capacity: limits.pendingConnections, timeoutMs: limits.preludeTimeoutMs });
  }

  /** Call it first. @throws AppError naming the setting, when its address does not belong to this machine */
  async check(): Promise<void> {
    const { listen } = this.#deps.settings;
    try {
      const anyPort = await EntryPort.listen({
        host: listen,
        port: 0,
        pending: this.#pending,
        onClient: resetSocket,
        onUnknownSource: () => undefined,
      });
      anyPort.close();
    } catch (error) {
      throw cannotListen(`SIGNALBOX_FORWARD_LISTEN: ${listen} cannot be listened on`, error);
    }
  }

  /** Opens the TLS name entry where configured. @throws AppError naming the setting, when its port cannot be opened */
  async start(find: TlsNameEntryOptions['find']): Promise<void> {
    const { settings, clock, log, limits } = this.#deps;
    if (!settings.names) return;
    const { domain, listen } = settings.names;
    const options = { ...listen, domain, isProxy: settings.isProxy, pending: this.#pending, find, clock, log, logEveryMs: limits.flushMs };
    try {
      this.#nameEntry = await TlsNameEntry.open(options);
    } catch (error) {
      throw cannotListen(`SIGNALBOX_FORWARD_NAME_LISTEN: ${listen.host}:${listen.port} cannot be listened on`, error);
    }
  }

  /** Accepts no further connections by name. Each forward closes its own port. */
  stop(): void {
    this.#nameEntry?.close();
    this.#pending.close();
  }

  /** Name and port by which a TLS client reaches a forward; undefined without the TLS name entry. */
  nameOf(forwardId: string): { name: string; port: number } | undefined {
    const { names } = this.#deps.settings;
    if (!names || !this.#nameEntry) return undefined;
    return { name: `${forwardId}.${names.domain}`, port: names.publicPort ?? this.#nameEntry.port };
  }

  /**
   * Opens the port of a new forward, or moves it to another port when another program holds its own. @returns the port
   * @throws AppError `unavailable`
   */
  async open(live: LiveForward, record: ForwardRecord): Promise<number> {
    return listenOnFreePort(this.#deps, record, (port) => this.#listen(live, port));
  }

  /**
   * Opens the port of a forward after a restart. The port stays the same, because users rely on it. If another program
   * holds it, the record says so and this tries again until the forward ends. @throws a storage error
   */
  async reopen(live: LiveForward, record: ForwardRecord): Promise<void> {
    const { limits, track, reopen } = this.#deps;
    try {
      await this.#listen(live, record.port);
    } catch (error) {
      if (live.ended) return;
      live.retryListeningIn(limits.retryMs, () => track(this.reopen(live, record)));
      await this.#recordPortLost(live, record.port, error);
      return;
    }
    if (live.setPortProblem(undefined)) reopen(live);
  }

  /**
   * Opens the port of a forward whose home was another control plane: its own if possible, otherwise another one.
   * @returns the port; when none can be opened the record says so, and this tries its own again and again @throws a storage error
   */
  async adopt(live: LiveForward, record: ForwardRecord): Promise<number> {
    try {
      return await listenSomewhere(this.#deps, record, (port) => this.#listen(live, port));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      await this.reopen(live, record);
      return record.port;
    }
  }

  /** Records and logs the problem once, not at every attempt. */
  async #recordPortLost(live: LiveForward, port: number, error: unknown): Promise<void> {
    const { storage, clock, log, changes } = this.#deps;
    const reason = portProblemText(port, error);
    if (!live.setPortProblem(reason)) return;
    log.error({ err: error, forward_id: live.id, port }, 'the port of a forward cannot be opened; trying again');
    const lost = await storage.writes.write((tx) => losePort(tx, live.key, reason, clock.now()));
    if (lost) changes.publish({ kind: 'lost', forward: lost });
  }

  async #listen(live: LiveForward, port: number): Promise<void> {
    const { settings } = this.#deps;
    const entry = await EntryPort.listen({
      host: settings.listen,
      port,
      isProxy: settings.isProxy,
      pending: this.#pending,
      teamId: live.teamId,
      onClient: (socket, source) => {
        if (!live.acceptFrom(socket, source)) resetSocket(socket);
      },
      onUnknownSource: (address) => live.refused(address),
    });
    live.attachPort(entry);
  }
}
