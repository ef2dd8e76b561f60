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

/** First and longest pause between two attempts: a restarting database is back within seconds. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2000;
/** Interval of reminders in the log. */
const REMIND_EVERY_MS = 60_000;

/** Serves the ports while the database is away: `/healthz` reports a live process, every other request gets 503. */
export interface StartupServer {
  /** Listen address with the port that the system chose. The control plane takes it over. */
  readonly listen: ListenAddress;
  /** Frees the ports. */
  close(): Promise<void>;
}

export interface DatabaseWaitDeps {
  config: Config;
  storage: Storage;
  log: Log;
  appOptions: AppOptions;
  /** Aborts the wait. */
  signal: AbortSignal | undefined;
}

/**
 * Resolves once the database answers: at once with undefined, or after a wait with the start-up server, which must be closed.
 * @throws AppError `unavailable` when the database refuses for a permanent reason, or the signal aborts the wait
 */
export async function waitForDatabase(deps: DatabaseWaitDeps): Promise<StartupServer | undefined> {
  if (await isThere(deps.storage)) return undefined;
  const startupServer = await openStartupServer(deps);
  try {
    await untilThere(deps);
  } catch (error) {
    await startupServer.close();
    throw error;
  }
  return startupServer;
}

/**
 * Repeats a start that lost PostgreSQL; the new start waits for the database. Everything that a start writes must be
 * safe to repeat. @throws what the start throws for any other reason, or after its signal
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
      log.warn({ err: error, component: 'storage' }, 'the database connection was lost during the start; starting again');
    }
    // After an abort, the new start ends at its own wait, or completes and is closed normally.
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
      log.warn({ component: 'storage' }, 'waiting for the database; until then every request gets 503');
      remindAt = performance.now() + REMIND_EVERY_MS;
    }
    await pause(pauseMs, undefined, { signal }).catch(() => {
      throw new AppError('unavailable', 'stopped while waiting for the database');
    });
  }
}

/** False when another attempt makes sense. */
async function isThere(storage: Storage): Promise<boolean> {
  try {
    return await answers(storage);
  } catch (error) {
    // A missing file does not come back by itself.
    const isAway = storage.engine === 'postgres' && error instanceof AppError && error.code === 'unavailable' && !isRefusal(error.cause);
    if (!isAway) throw error;
    return false;
  }
}

async function openStartupServer({ config, appOptions: options }: DatabaseWaitDeps): Promise<StartupServer> {
  const api = waitingApp(options);
  const sandbox = waitingApp({ ...options, describeError: describePlantError });
  const close = async (): Promise<void> => {
    await Promise.all([api.close(), sandbox.close()]);
  };
  try {
    const { port } = new URL(await listen(api, config.listen));
    if (config.sandboxListen) await listen(sandbox, config.sandboxListen, { what: 'plant demonstration (SIGNALBOX_SANDBOX_LISTEN)' });
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
