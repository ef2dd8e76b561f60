import { setTimeout as pause } from 'node:timers/promises';
import type { Config, ListenAddress } from '../config.ts';
import { AppError, LostCommit } from '../platform/core/errors.ts';
import type { Log } from '../platform/core/log.ts';
import { createApp } from '../platform/http/app.ts';
import type { App, AppOptions } from '../platform/http/app.ts';
import { healthRoutes } from '../platform/http/health.ts';
import { SERVER_VERSION } from '../version.ts';
import { listen } from '../platform/http/listen.ts';
import { describePlantError } from '../operations/sandbox/feature.ts';
import type { Storage } from '../platform/storage/db.ts';
import { answers } from '../platform/storage/health.ts';
import { isRefusal } from '../platform/storage/storage-errors.ts';

/** First and longest pause between two attempts: a database that is being restarted is back within seconds. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2000;
/** Who reads the log of a start that takes long is told again. */
const REMIND_EVERY_MS = 60_000;

/** Stands at the doors while the database is away: `/healthz` says that the process lives, everything else is 503. */
export interface WaitingRoom {
  /** Where it listens, with the port that the system chose; the control plane takes its place there. */
  readonly listen: ListenAddress;
  /** Frees the ports. */
  close(): Promise<void>;
}

export interface DatabaseWaitDeps {
  config: Config;
  storage: Storage;
  log: Log;
  appOptions: AppOptions;
  /** Ends the wait. */
  signal: AbortSignal | undefined;
}

/**
 * Resolves once the database answers: at once with undefined, or after a wait with the waiting room that must be closed.
 * @throws AppError `unavailable` when it is refused for a reason that waiting does not mend, or the wait is ended by its signal
 */
export async function waitForDatabase(deps: DatabaseWaitDeps): Promise<WaitingRoom | undefined> {
  if (await isThere(deps.storage)) return undefined;
  const room = await openWaitingRoom(deps);
  try {
    await untilThere(deps);
  } catch (error) {
    await room.close();
    throw error;
  }
  return room;
}

/**
 * Begins a start anew when PostgreSQL has gone away in the middle of it; the new one waits for the database. Nothing that a start
 * writes may be done only once. @throws what the start throws for any other reason, or after its signal
 */
export async function startAgainWhenBroken<T>(
  start: () => Promise<T>,
  { config, log, signal }: Pick<DatabaseWaitDeps, 'config' | 'log' | 'signal'>,
): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await start();
    } catch (error) {
      const isOver = signal?.aborted === true || config.databaseUrl.startsWith('sqlite:');
      if (isOver || !isBroken(error)) throw error;
      log.warn({ err: error, component: 'storage' }, 'the database went away during the start, which begins anew');
    }
    // Told to end: the new start ends at its own wait, or is finished and closed as any other.
    await pause(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

function isBroken(error: unknown): boolean {
  return error instanceof LostCommit || (error instanceof AppError && error.code === 'unavailable' && !isRefusal(error.cause));
}

async function untilThere({ storage, log, signal }: DatabaseWaitDeps): Promise<void> {
  let remindAt = 0;
  for (let pauseMs = FIRST_PAUSE_MS; !(await isThere(storage)); pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    if (performance.now() >= remindAt) {
      log.warn({ component: 'storage' }, 'the start waits for the database; until then every request is answered 503');
      remindAt = performance.now() + REMIND_EVERY_MS;
    }
    await pause(pauseMs, undefined, { signal }).catch(() => {
      throw new AppError('unavailable', 'told to end while the database was away');
    });
  }
}

/** False when it is worth asking again. */
async function isThere(storage: Storage): Promise<boolean> {
  try {
    return await answers(storage);
  } catch (error) {
    // A file does not come back by itself.
    const isAway = storage.engine === 'postgres' && error instanceof AppError && error.code === 'unavailable' && !isRefusal(error.cause);
    if (!isAway) throw error;
    return false;
  }
}

async function openWaitingRoom({ config, appOptions: options }: DatabaseWaitDeps): Promise<WaitingRoom> {
  const api = waitingApp(options);
  const sandbox = waitingApp({ ...options, describeError: describePlantError });
  const close = async (): Promise<void> => {
    await Promise.all([api.close(), sandbox.close()]);
  };
  try {
    const { port } = new URL(await listen(api, config.listen));
    if (config.sandboxListen) await listen(sandbox, config.sandboxListen);
    return { listen: { host: config.listen.host, port: Number(port) }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function waitingApp(options: AppOptions): App {
  const app = createApp(options);
  healthRoutes(app, { version: SERVER_VERSION, isReady: async () => false });
  app.addHook('onRequest', async (request) => {
    const isHealth = request.url === '/healthz' || request.url === '/readyz';
    if (!isHealth) throw new AppError('unavailable', 'the control plane is starting and waits for its database');
  });
  return app;
}
