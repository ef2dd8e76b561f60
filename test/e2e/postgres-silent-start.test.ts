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

/** PostgreSQL stops answering in the middle of a start, and its connections stay: a stopped machine, a firewall that forgot them. */

const postgres = databaseKinds().find(({ name }) => name === 'PostgreSQL');

interface Silence {
  /** Statement that begins it. */
  text: string;
  /** What is lost from then on, on the connections of that moment. */
  lost: 'statements' | 'answers' | 'both';
  /** Connections that are made within this time are accepted and never answered. */
  forMs: number;
}

/** Leads to a server's socket, until a statement passes from which on nothing is heard. */
class SilentLine {
  /** How often that has happened. */
  silences = 0;
  readonly #server: net.Server;
  readonly #pairs = new Set<{ client: net.Socket; server: net.Socket; isSilent: boolean }>();
  readonly #silence: Silence;
  #silentUntil = 0;

  constructor(socketFolder: string, silence: Silence) {
    this.#silence = silence;
    this.#server = net.createServer((client) => {
      const server = net.connect(path.join(socketFolder, '.s.PGSQL.5432'));
      const pair = { client, server, isSilent: performance.now() < this.#silentUntil };
      this.#pairs.add(pair);
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        from.on('error', () => undefined);
        // Whoever hangs up is heard on the other side only while the line works.
        from.on('close', () => {
          if (!pair.isSilent) to.destroy();
          if (from === client) this.#pairs.delete(pair);
        });
        from.on('data', (chunk) => {
          if (from === client && this.silences === 0 && chunk.includes(silence.text)) this.#fallSilent();
          const passes = silence.lost === (from === client ? 'answers' : 'statements');
          if (!pair.isSilent || passes) to.write(chunk);
        });
      }
    });
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    for (const { client, server } of this.#pairs) for (const socket of [client, server]) socket.destroy();
  }

  #fallSilent(): void {
    this.silences += 1;
    this.#silentUntil = performance.now() + this.#silence.forMs;
    for (const pair of this.#pairs) pair.isSilent = true;
  }
}

/** A statement is given up after 35 s (postgres.ts), and a connection that is not answered after 5. */
const READY_WITHIN_MS = 150_000;

describe.skipIf(!postgres)('a start in the middle of which PostgreSQL falls silent', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-silent-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test.concurrent.each<[string, Silence]>([
    ['and new connections are not answered either', { text: 'create table if not exists', lost: 'both', forMs: 45_000 }],
    // The server ends a transaction in which it is asked nothing (25P03), and its word arrives in the place of an answer.
    ['towards the server, in its migrations', { text: 'create table if not exists', lost: 'statements', forMs: 0 }],
    ['towards the server, in a write', { text: 'delete from "kept_events"', lost: 'statements', forMs: 0 }],
    ['towards the control plane, in a write', { text: 'delete from "kept_events"', lost: 'answers', forMs: 0 }],
    ['towards the control plane, at a commit', { text: 'commit', lost: 'answers', forMs: 0 }],
  ])('%s, is begun anew', { timeout: READY_WITHIN_MS + 30_000 }, async (_where, silence) => {
    const { url: direct } = await postgres!.create();
    const { pathname, searchParams } = new URL(direct.replace('postgres:///', 'postgres://host/'));
    const line = new SilentLine(searchParams.get('host')!, silence);
    const port = await freePort();
    const server = new Program('server/main.ts', ['serve'], {
      SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
      SIGNALBOX_SANDBOX_LISTEN: '',
      SIGNALBOX_DATABASE_URL: `postgres://signalbox@127.0.0.1:${await line.listen()}${pathname}`,
      SIGNALBOX_SECRET_KEY_FILE: path.join(folder, `${port}.key`),
    });
    try {
      server.start();
      const isReady = async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status === 200;
      await waitUntil('ready, or ended', async () => server.unaskedEnds.length > 0 || isReady(), READY_WITHIN_MS);
      expect(server.unaskedEnds).toEqual([]);
      expect(line.silences).toBe(1);
      expect(await server.stop()).toBe(0);
    } finally {
      await server.kill();
      line.close();
    }
  });
});
