import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { databaseKinds } from '../harness/databases.ts';
import { freePort } from '../harness/installation.ts';
import { Program } from '../harness/program.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** PostgreSQL goes away in the middle of a start: not before it, which the start waits for from its beginning. */

const postgres = databaseKinds().find(({ name }) => name === 'PostgreSQL');

/** Leads to a server's socket, and breaks every connection when a statement about one of these tables passes. Each does so once. */
class BreakingLine {
  readonly broken: string[] = [];
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  readonly #tables: string[];

  constructor(socketFolder: string, tables: readonly string[]) {
    this.#tables = [...tables];
    this.#server = net.createServer((client) => {
      const server = net.connect(path.join(socketFolder, '.s.PGSQL.5432'));
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#sockets.add(from);
        from.on('error', () => undefined);
        from.on('close', () => {
          this.#sockets.delete(from);
          to.destroy();
        });
      }
      client.on('data', (chunk) => this.#breaks(chunk) || server.write(chunk));
      server.on('data', (chunk) => client.write(chunk));
    });
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #breaks(chunk: Buffer): boolean {
    const at = this.#tables.findIndex((table) => chunk.includes(table));
    if (at === -1) return false;
    this.broken.push(...this.#tables.splice(at, 1));
    for (const socket of this.#sockets) socket.destroy();
    return true;
  }
}

describe.skipIf(!postgres)('a start during which PostgreSQL goes down', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-start-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('starts again, each time that it happens', async () => {
    const tables = ['delete from "kept_events"', 'select * from "event_positions"'];
    const { url: direct } = await postgres!.create();
    const { pathname, searchParams } = new URL(direct.replace('postgres:///', 'postgres://host/'));
    const line = new BreakingLine(searchParams.get('host')!, tables);
    const databaseUrl = `postgres://signalbox@127.0.0.1:${await line.listen()}${pathname}`;
    const port = await freePort();
    const server = new Program('server/main.ts', ['serve'], {
      SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
      SIGNALBOX_SANDBOX_LISTEN: '',
      SIGNALBOX_DATABASE_URL: databaseUrl,
      SIGNALBOX_SECRET_KEY_FILE: path.join(folder, 'secret.key'),
    });
    try {
      server.start();
      const isReady = async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status === 200;
      await waitUntil('ready, or ended', async () => server.unaskedEnds.length > 0 || isReady(), 90_000);
      expect(server.unaskedEnds).toEqual([]);
      expect(line.broken.toSorted()).toEqual(tables.toSorted());
      expect(await server.stop()).toBe(0);
    } finally {
      await server.kill();
      line.close();
    }
  });
});
