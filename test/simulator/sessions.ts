export type ServiceName = 'api' | 'api-ssl' | 'ssh';

/** One client connection, as the registry sees it. */
export interface ClientSession {
  readonly service: ServiceName;
  readonly remoteAddress: string;
  /** Set once logged in. */
  user: string | undefined;
  /** Ends the connection at once; `reset` sends RST instead of FIN. */
  close(reset: boolean): void;
  /** A firewall drops the packets from now on: nothing is read or answered, nothing is closed. */
  blackhole(): void;
  /** The packets come through again: TCP takes up where it was. */
  reappear?(): void;
  /** Sends bytes that are no protocol at all. */
  garble?(bytes: Buffer): void;
}

export interface RegisteredSession {
  readonly id: string;
  readonly session: ClientSession;
  readonly since: number;
}

/** All client connections of all services, so that a reboot or a firewall rule reaches each one. */
export class SessionRegistry {
  readonly #sessions = new Map<ClientSession, RegisteredSession>();
  #next = 1;

  /** Adds a connection; the returned function takes it out again and may be called twice. */
  register(session: ClientSession, nowMs: number): () => void {
    const id = `*${(this.#next++).toString(16).toUpperCase()}`;
    this.#sessions.set(session, { id, session, since: nowMs });
    return () => this.#sessions.delete(session);
  }

  list(): RegisteredSession[] {
    return [...this.#sessions.values()];
  }

  /** Drops every connection the test accepts. */
  closeAll(reset: boolean, which: (session: ClientSession) => boolean = () => true): void {
    for (const { session } of this.list()) if (which(session)) session.close(reset);
  }
}
