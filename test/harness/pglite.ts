import type { PGlite } from '@electric-sql/pglite';
import type { PGLiteSocketServer } from '@electric-sql/pglite-socket';

interface Instance {
  db: PGlite;
  server: PGLiteSocketServer;
  url: string;
}

/**
 * PostgreSQL in WebAssembly, for machines without a server. Starting one takes seconds and emptying it milliseconds,
 * so instances are used again.
 */
export class PgliteShelf {
  readonly #free: Instance[] = [];

  /** An empty database; `remove` empties it again for the next one. */
  async take(): Promise<{ url: string; remove: () => Promise<void> }> {
    const instance = this.#free.pop() ?? (await start());
    const remove = async (): Promise<void> => {
      await instance.db.exec('drop schema public cascade; create schema public');
      this.#free.push(instance);
    };
    return { url: instance.url, remove };
  }

  async close(): Promise<void> {
    for (const { server, db } of this.#free.splice(0)) {
      await server.stop();
      await db.close();
    }
  }
}

async function start(): Promise<Instance> {
  const { PGlite } = await import('@electric-sql/pglite');
  const { PGLiteSocketServer } = await import('@electric-sql/pglite-socket');
  const db = await PGlite.create();
  const server = new PGLiteSocketServer({ db, host: '127.0.0.1', port: 0, maxConnections: 50 });
  const listening = new Promise<number>((resolve) => {
    server.addEventListener('listening', (event) => resolve((event as CustomEvent<{ port: number }>).detail.port));
  });
  await server.start();
  // One connection: what several prepare at the same time, PGlite mixes up.
  return { db, server, url: `postgres://postgres:postgres@127.0.0.1:${await listening}/postgres?pool_max=1` };
}
