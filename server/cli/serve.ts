import process from 'node:process';
import closeWithGrace from 'close-with-grace';
import { END_SIGNALS, onEndSignal } from '../../runtime/end-signals.ts';
import { disablePretenuring } from '../../runtime/pretenuring.ts';
import type { Config } from '../config.ts';
import { within } from '../platform/core/within.ts';
import type { RunningServer } from '../compose/start.ts';
import { banner } from './banner.ts';
import type { Started } from './banner.ts';

/** Requests under way get 10 s and agents 5 s (compose/api.ts); then the state in memory is written. */
const SHUTDOWN_DEADLINE_MS = 20_000;
/** One of several first sends its agents to the others: 500 a second, and some of them late. */
const DRAIN_DEADLINE_MS = 60_000;

function longestDrainOf({ cluster }: Config): number {
  return cluster ? cluster.drainMs + DRAIN_DEADLINE_MS : 0;
}

/** From the signal to the end of the process. */
export function longestStopMs(config: Config): number {
  return SHUTDOWN_DEADLINE_MS + longestDrainOf(config);
}

/** Where `serve` speaks, besides its log. */
interface Voices {
  complain: (text: string) => void;
  /** To a person at a terminal; undefined when nobody reads along. */
  announce?: ((text: string) => void) | undefined;
}

/**
 * Starts the control plane and leaves it running. From then on a signal ends the process with code 0, an unexpected error
 * with code 1. @throws AppError when it cannot be started
 */
export async function serve(config: Config, { complain, announce }: Voices): Promise<void> {
  disablePretenuring();
  // Imported here so that the administration commands load no web server.
  const { startServer } = await import('../compose/start.ts');
  let server: RunningServer | undefined;
  const stop = new AbortController();
  const logger = { error: (...parts: unknown[]) => complain(parts.map(String).join(' ')) };
  let starting: Promise<unknown> = Promise.resolve();
  const longestDrainMs = longestDrainOf(config);
  // Installed before the start so that a signal during it is not lost: the start finishes, then everything is closed.
  const grace = closeWithGrace({ delay: longestStopMs(config), logger, skip: [...END_SIGNALS] }, async ({ err }) => {
    stop.abort();
    if (err) complain(`signalbox: ${err.stack ?? err.message}`);
    await starting.catch(() => undefined);
    // After an unexpected error nothing is certain any more.
    if (!err && server) await within(server.drain(), longestDrainMs);
    await server?.close();
  });
  // On a terminal, SIGHUP means that it was closed. A service manager sends SIGHUP to reload the files.
  const isAtTerminal = process.stdin.isTTY || process.stdout.isTTY;
  onEndSignal(() => grace.close(), isAtTerminal ? END_SIGNALS : END_SIGNALS.filter((signal) => signal !== 'SIGHUP'));
  if (!isAtTerminal) process.on('SIGHUP', () => void server?.reload());
  const onReplaced = (error: Error): never => {
    complain(`signalbox: ${error.message}`);
    // At once: what a graceful stop writes could contradict what the successor has written since.
    process.exit(1);
  };
  const onLost = (error: unknown): never => {
    complain(`signalbox: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  };
  starting = startServer(config, { signal: stop.signal, onReplaced, onLost }).then((started) => (server = started));
  try {
    await starting;
  } catch (error) {
    // The signal interrupted a start that was waiting for its database, or that failed by itself.
    if (stop.signal.aborted) return;
    grace.uninstall();
    throw error;
  }
  if (server && announce) await greet(server, announce, complain);
}

/** It runs already: what fails here is said, and ends nothing. */
async function greet(server: RunningServer, announce: (text: string) => void, complain: (text: string) => void): Promise<void> {
  try {
    announce(banner(await describeStart(server)));
  } catch (error) {
    complain(`signalbox: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function describeStart({ sandboxUrl, services }: RunningServer): Promise<Started> {
  const { unbuiltParts } = await import('./unbuilt.ts');
  const { identity } = services;
  return { publicUrl: identity.baseUrl, sandboxUrl, setupLink: await identity.setupLink(), unbuilt: unbuiltParts() };
}
