import process from 'node:process';
import { databaseKinds } from '../databases.ts';
import { freePort } from '../installation.ts';
import { NatsServer } from '../nats-server.ts';

/**
 * `TEST_NODES=3` lets every world of a test run have three control planes on PostgreSQL instead of one on SQLite: requests go to each in
 * turn, and the agent is connected to the last. A test that brings a SQLite database of its own keeps one. Whatever reaches into
 * `world.server` sees the first of them only: `spread: false` is for tests that must.
 */
export const NODES = Number(process.env['TEST_NODES'] ?? 1);

/** Whether a world with these options may have several control planes: its database can, and it does not set up some itself. */
export function maySpread({
  databaseUrl,
  server,
  spread,
}: {
  databaseUrl?: string;
  server?: Record<string, string>;
  spread?: boolean;
}): boolean {
  return NODES > 1 && spread !== false && databaseUrl?.startsWith('sqlite:') !== true && server?.['SIGNALBOX_BUS_URL'] === undefined;
}

/** A database and a bus for the control planes of one world. */
export class SharedEngines {
  readonly #databaseUrl: string;
  readonly #removeDatabase: () => Promise<void>;
  readonly #nats: NatsServer;

  private constructor(parts: { databaseUrl: string; removeDatabase: () => Promise<void>; nats: NatsServer }) {
    this.#databaseUrl = parts.databaseUrl;
    this.#removeDatabase = parts.removeDatabase;
    this.#nats = parts.nats;
  }

  /**
   * @param databaseUrl of a database that the test has made and removes
   * @throws Error when PostgreSQL is not installed
   */
  static async start(databaseUrl?: string): Promise<SharedEngines> {
    const postgres = databaseKinds().find(({ name }) => name === 'PostgreSQL');
    if (!postgres) throw new Error("TEST_NODES needs Debian's postgresql and nats-server");
    const own = databaseUrl === undefined ? await postgres.createMigrated() : { url: databaseUrl, remove: async () => undefined };
    return new SharedEngines({ databaseUrl: own.url, removeDatabase: own.remove, nats: await NatsServer.start() });
  }

  /** What the options of a world say instead. */
  async settings(options: { server?: Record<string, string> }): Promise<{ databaseUrl: string; server: Record<string, string> }> {
    return { databaseUrl: this.#databaseUrl, server: { ...(await this.nodeSettings()), ...options.server } };
  }

  /** Of one control plane more. Agents dial channels to its own port. */
  async nodeSettings(): Promise<Record<string, string>> {
    const address = `127.0.0.1:${await freePort()}`;
    return { SIGNALBOX_BUS_URL: this.#nats.url, SIGNALBOX_NODE_PUBLIC_URL: `http://${address}`, SIGNALBOX_LISTEN: address };
  }

  async close(): Promise<void> {
    await this.#nats.close();
    await this.#removeDatabase();
  }
}
