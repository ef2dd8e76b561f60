import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import process from 'node:process';
import { type PgBouncer, startPgBouncer } from './pgbouncer.ts';
import { findPostgres, type PostgresServer, startPostgres } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Loopback port where a worker asks for the run's PostgreSQL server; 0 when none is installed. */
    postgresPort: number;
    /** Folder for what the test files of a run share; it goes with the run. */
    runFolder: string;
  }
}

/** Vitest's global set-up: what all test files of a run share. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const runFolder = await mkdtemp(path.join(os.tmpdir(), 'signalbox-run-'));
  project.provide('runFolder', runFolder);
  const stopPostgres = await offerPostgres(project);
  return async () => {
    await stopPostgres();
    await rm(runFolder, { recursive: true, force: true });
  };
}

/**
 * One PostgreSQL server for all workers, started when the first test asks for it, so that a run without database tests pays nothing. A worker
 * connects and reads the socket folder, or the error.
 *
 * @returns what ends it
 */
async function offerPostgres(project: TestProject): Promise<() => Promise<void>> {
  const bin = findPostgres();
  if (bin === undefined) {
    project.provide('postgresPort', 0);
    return () => Promise.resolve();
  }
  let starting: Promise<Running> | undefined;
  const answer = async (socket: net.Socket): Promise<void> => {
    socket.on('error', () => socket.destroy());
    starting ??= start(bin);
    const reply = await starting.then(
      ({ server, pooler }) => ({ socketFolder: server.socketFolder, poolerFolder: pooler?.socketFolder }),
      (error: unknown) => ({ error: String(error) }),
    );
    socket.end(JSON.stringify(reply));
  };
  const broker = net.createServer((socket) => void answer(socket));
  broker.listen(0, '127.0.0.1');
  await once(broker, 'listening');
  project.provide('postgresPort', (broker.address() as AddressInfo).port);
  return async () => {
    broker.close();
    const running = await starting?.catch(() => undefined);
    await running?.pooler?.close();
    await running?.server.stop();
  };
}

interface Running {
  server: PostgresServer;
  /** With `TEST_PGBOUNCER=1`: what control planes reach the server through. */
  pooler: PgBouncer | undefined;
}

async function start(bin: string): Promise<Running> {
  const server = await startPostgres(bin);
  const isPooled = process.env['TEST_PGBOUNCER'] === '1';
  return { server, pooler: isPooled ? await startPgBouncer(server.socketFolder) : undefined };
}
